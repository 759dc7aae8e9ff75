;;; atomic-dialog.el --- Questions of the agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: a question of the agent waits in a list and is told by a message and a mark, it never opens by itself; `C-g' postpones
;; it and never answers; it closes when it was answered elsewhere; a secret is not echoed.  A question of the server itself, which
;; belongs to a command that the person has just given, opens at once unless the person does something else by now, and `C-g' takes
;; it back.
;; Must not know: transcripts, prompts.

;;; Code:

(require 'cl-lib)
(require 'atomic-answer)
(require 'atomic-entry)
(require 'atomic-intent)
(require 'atomic-question)

(defvar atomic-dialog--open nil "Tags of the questions that are open in a minibuffer, by their id.")

(defun atomic-dialog-pending ()
  "All open questions, as pairs of a client and a question, oldest first."
  (sort (cl-loop for client in (atomic-client-list)
                 nconc (mapcar (lambda (dialog) (cons client dialog))
                               (append (atomic-client-questions client)
                                       (atomic-session-dialogs (atomic-client-session client)))))
        (lambda (a b) (< (or (plist-get (cdr a) :openedAt) 0) (or (plist-get (cdr b) :openedAt) 0)))))

(defun atomic-dialog-mark ()
  "The mark of open questions, for the mode line."
  (let ((count (length (atomic-dialog-pending))))
    (if (> count 0)
        (propertize (format " ⚑%d" count) 'face 'warning
                    'help-echo "Questions of the agent: mouse-1, or M-x atomic-next-attention"
                    'mouse-face 'mode-line-highlight
                    'local-map (make-mode-line-mouse-map 'mouse-1 #'atomic-next-attention))
      "")))

;;;; Asking

(defun atomic-dialog-labels (options)
  "OPTIONS as labels that differ, in their order."
  (let (labels)
    (seq-do-indexed
     (lambda (option index)
       (let ((label (atomic-entry-one-line (format "%s" option))))
         (push (if (or (string-empty-p label) (member label labels)) (format "%s (%d)" label (1+ index)) label)
               labels)))
     options)
    (nreverse labels)))

(defun atomic-dialog-choose (prompt labels &optional annotate)
  "The index of the one of LABELS that the person chooses after PROMPT.
ANNOTATE gives the words behind a label."
  (let ((table (lambda (text predicate action)
                 (if (eq action 'metadata)
                     `(metadata (display-sort-function . identity) (cycle-sort-function . identity)
                                ,@(and annotate `((annotation-function . ,annotate))))
                   (complete-with-action action labels text predicate)))))
    (cl-position (completing-read prompt table nil t) labels :test #'equal)))

(defun atomic-dialog--ask (dialog)
  "Ask DIALOG in the minibuffer and return the answer, a plist."
  (let ((prompt (concat (atomic-answer-title dialog) ": ")))
    (pcase (plist-get dialog :method)
      ((or "select" "oauth_select")
       (let ((index (atomic-dialog-choose prompt (atomic-dialog-labels (plist-get dialog :options)))))
         (if index (list :index index) (signal 'quit nil))))
      ("confirm" (pcase (atomic-dialog-choose prompt '("yes" "no"))
                   (0 (list :confirmed t))
                   (1 (list :confirmed :json-false))
                   (_ (signal 'quit nil))))
      (_ (list :value
               (if (atomic-session-true-p (plist-get dialog :secret))
                   (read-passwd prompt)
                 (let ((hint (plist-get dialog :placeholder)))
                   (read-string (if (stringp hint)
                                    (format "%s (%s): " (atomic-answer-title dialog) (atomic-entry-one-line hint))
                                  prompt)
                                (plist-get dialog :prefill)))))))))

;; Between drawing a prompt and reading its first key a `C-g' is no key but a signal, which the minibuffer's command loop takes: the
;; question would stay as if it had not been pressed.
(defun atomic-dialog--heed-quit ()
  "Let every `C-g' in this minibuffer end it, also one before a key is read."
  (let ((others command-error-function))
    (setq-local command-error-function
                (lambda (data context caller)
                  (if (and (eq (car data) 'quit) (null this-command))
                      (abort-recursive-edit)
                    (funcall others data context caller))))))

(defun atomic-dialog--own-p (client dialog)
  "Whether DIALOG is one of CLIENT's server itself."
  (memq dialog (atomic-client-questions client)))

(defun atomic-dialog-open (client dialog)
  "Let the person answer DIALOG of CLIENT; \\[keyboard-quit] postpones it."
  (if (equal (plist-get dialog :method) "editor")
      (atomic-answer-edit client dialog)
    (let* ((id (plist-get dialog :id))
           (tag (make-symbol "atomic-dialog"))
           (answer (let ((atomic-dialog--open (cons (cons id tag) atomic-dialog--open)))
                     (condition-case nil
                         (catch tag
                           (minibuffer-with-setup-hook (:append #'atomic-dialog--heed-quit)
                             (atomic-dialog--ask dialog)))
                       (quit 'postponed)))))
      (cond
       ((eq answer 'closed) (message "Atomic: already over: %s" (atomic-answer-title dialog)))
       ((not (eq answer 'postponed)) (atomic-intent-answer client dialog answer))
       ((atomic-dialog--own-p client dialog) (atomic-intent-answer client dialog (list :cancelled t)))
       (t (message "Atomic: postponed: %s" (atomic-answer-title dialog)))))))

(defun atomic-dialog--button (client)
  "What answers a question of CLIENT when a button of it was pressed."
  (lambda (dialog answer)
    (if answer
        (atomic-intent-answer client dialog answer)
      (atomic-dialog-open client dialog))))

;;;; What happens

(defun atomic-dialog--close (id)
  "Close the question ID, which is over."
  (when-let* ((open (assoc id atomic-dialog--open)))
    ;; After the batch: a throw would leave the others of its listeners untold.
    (run-at-time 0 nil (lambda ()
                         (when (memq open atomic-dialog--open)
                           (throw (cdr open) 'closed)))))
  (atomic-answer-close id))

(defun atomic-dialog--close-lost (client)
  "Close the questions of CLIENT that are not open any more."
  (let ((ids (mapcar (lambda (dialog) (plist-get dialog :id))
                     (append (atomic-client-questions client)
                             (atomic-session-dialogs (atomic-client-session client))))))
    (dolist (id (append (atomic-answer-open client) (mapcar #'car atomic-dialog--open)))
      (unless (or (member id ids)
                  (cl-some (lambda (it) (equal id (plist-get (cdr it) :id))) (atomic-dialog-pending)))
        (atomic-dialog--close id)))))

(defun atomic-dialog--own (client)
  "Open the newest question of CLIENT's server, which the person wants."
  (let ((dialog (car (last (atomic-client-questions client)))))
    (run-at-time 0 nil
                 (lambda ()
                   (when (atomic-dialog--own-p client dialog)
                     (if (or (active-minibuffer-window) (not (eql atomic-intent-keys num-nonmacro-input-events)))
                         (atomic-dialog--announce dialog)
                       (with-local-quit (atomic-dialog-open client dialog))))))))

(defun atomic-dialog--announce (dialog)
  "Say that DIALOG waits."
  (message "%s" (concat "Atomic asks: " (atomic-answer-title dialog)
                        (substitute-command-keys " (\\[atomic-next-attention])"))))

(defun atomic-dialog--ours-p (client dialog)
  "Whether DIALOG is asked here.
CLIENT led to it, or nobody did, or everybody is asked."
  (let ((origin (plist-get (plist-get dialog :origin) :id)))
    (or (null origin)
        (equal origin (atomic-client-origin client))
        (atomic-session-true-p (plist-get dialog :offered)))))

(defun atomic-dialog--offered (client fact)
  "Say that a question of CLIENT waits, now that FACT has it asked everywhere."
  (when-let* ((dialog (seq-find (lambda (dialog) (equal (plist-get dialog :id) (plist-get fact :id)))
                                (atomic-session-dialogs (atomic-client-session client))))
              ((not (equal (plist-get (plist-get dialog :origin) :id) (atomic-client-origin client)))))
    (atomic-dialog--announce dialog)))

(defun atomic-dialog--over (client fact)
  "Close the question of CLIENT that FACT settles, and say who did it."
  (let* ((id (plist-get fact :id))
         (origin (plist-get fact :by))
         (by (plist-get origin :name)))
    (when (and (or (assoc id atomic-dialog--open) (atomic-answer-buffer id))
               (not (and origin (equal (plist-get origin :id) (atomic-client-origin client)))))
      (message "Atomic: %s%s" (plist-get fact :outcome) (if by (format " (%s)" by) "")))
    (atomic-dialog--close id)))

(defun atomic-dialog--update (client what)
  "Tell of questions in WHAT, facts of CLIENT, and close those that are over."
  ;; The mark is in every mode line: it is drawn anew only when it may be another one.
  (cond
   ((consp what)
    (dolist (fact what)
      (pcase (plist-get fact :type)
        ("dialog_opened"
         (when (atomic-dialog--ours-p client (plist-get fact :dialog))
           (atomic-dialog--announce (plist-get fact :dialog)))
         (force-mode-line-update t))
        ("dialog_offered" (atomic-dialog--offered client fact))
        ("dialog_settled" (atomic-dialog--over client fact)
         (force-mode-line-update t)))))
   ((eq what 'asked) (atomic-dialog--own client)
    (force-mode-line-update t))
   ((memq what '(reset gone)) (atomic-dialog--close-lost client)
    (force-mode-line-update t))))

(defun atomic-dialog--buttons (client)
  "Let the buttons of the current transcript, of CLIENT, answer."
  (setq-local atomic-question-answer-function (atomic-dialog--button client)))

(defvar atomic-chat-buffer-functions)

(defun atomic-dialog-watch ()
  "Tell of questions from now on, with a mark in the mode line."
  (add-hook 'atomic-client-update-functions #'atomic-dialog--update)
  (add-hook 'atomic-chat-buffer-functions #'atomic-dialog--buttons)
  (unless global-mode-string (setq global-mode-string '("")))
  (add-to-list 'global-mode-string '(:eval (atomic-dialog-mark)) t))

;;;###autoload
(defun atomic-next-attention ()
  "Open the oldest question of the agent."
  (interactive)
  (if-let* ((next (car (atomic-dialog-pending))))
      (atomic-dialog-open (car next) (cdr next))
    (message "Atomic asks nothing")))

;;;###autoload
(defun atomic-attention-list ()
  "Choose one of the open questions of the agent and answer it."
  (interactive)
  (let* ((pending (or (atomic-dialog-pending) (user-error "Atomic asks nothing")))
         (index (atomic-dialog-choose
                 "Question: "
                 (atomic-dialog-labels (mapcar (lambda (it)
                                                 (format "%s — %s" (atomic-answer-title (cdr it))
                                                         (atomic-client-label (car it))))
                                               pending)))))
    (when index
      (let ((chosen (nth index pending)))
        (atomic-dialog-open (car chosen) (cdr chosen))))))

;;;###autoload
(defun atomic-cancel-question ()
  "Refuse the oldest question of the agent."
  (interactive)
  (let ((next (or (car (atomic-dialog-pending)) (user-error "Atomic asks nothing"))))
    (atomic-intent-answer (car next) (cdr next) (list :cancelled t))))

(provide 'atomic-dialog)
;;; atomic-dialog.el ends here

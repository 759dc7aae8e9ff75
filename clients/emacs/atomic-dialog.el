;;; atomic-dialog.el --- Questions of the agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: a question waits in a list and is told by a message and a mark, it never opens by itself; `C-g' postpones it and
;; never answers; it closes when it was answered elsewhere; a secret is not echoed.
;; Must not know: transcripts, prompts.

;;; Code:

(require 'cl-lib)
(require 'atomic-client)
(require 'atomic-render)

(defvar atomic-dialog--open nil "Tags of the questions that are open in a minibuffer, by their id.")

(defvar-local atomic-dialog--client nil "The client of the question in this buffer.")
(defvar-local atomic-dialog--dialog nil "The question in this buffer.")

(defun atomic-dialog-pending ()
  "All open questions, as pairs of a client and a question, oldest first."
  (sort (cl-loop for client in (atomic-client-list)
                 nconc (mapcar (lambda (dialog) (cons client dialog))
                               (atomic-session-dialogs (atomic-client-session client))))
        (lambda (a b) (< (or (plist-get (cdr a) :openedAt) 0) (or (plist-get (cdr b) :openedAt) 0)))))

(defun atomic-dialog-mark ()
  "The mark of open questions, for the mode line."
  (let ((count (length (atomic-dialog-pending))))
    (if (> count 0)
        (propertize (format " ⚑%d" count) 'face 'warning 'help-echo "Questions of the agent: M-x atomic-next-attention")
      "")))

(defun atomic-dialog--title (dialog)
  "What DIALOG asks, in one line."
  (string-join (seq-remove #'string-empty-p
                           (list (atomic-render-one-line (or (plist-get dialog :title) ""))
                                 (atomic-render-one-line (or (plist-get dialog :message) ""))))
               " — "))

(defun atomic-dialog--answer (client dialog answer)
  "Answer DIALOG of CLIENT with ANSWER, a plist."
  (atomic-client-intent client "answer" (append (list :dialog (plist-get dialog :id)) answer)))

;;;; Asking

(defun atomic-dialog--labels (options)
  "OPTIONS as labels that differ, in their order."
  (let (labels)
    (seq-do-indexed
     (lambda (option index)
       (let ((label (atomic-render-one-line (format "%s" option))))
         (push (if (or (string-empty-p label) (member label labels)) (format "%s (%d)" label (1+ index)) label)
               labels)))
     options)
    (nreverse labels)))

(defun atomic-dialog--choose (prompt labels)
  "The index of the one of LABELS that the person chooses after PROMPT."
  (let ((table (lambda (text predicate action)
                 (if (eq action 'metadata)
                     '(metadata (display-sort-function . identity) (cycle-sort-function . identity))
                   (complete-with-action action labels text predicate)))))
    (cl-position (completing-read prompt table nil t) labels :test #'equal)))

(defun atomic-dialog--ask (dialog)
  "Ask DIALOG in the minibuffer and return the answer, a plist."
  (let ((prompt (concat (atomic-dialog--title dialog) ": ")))
    (pcase (plist-get dialog :method)
      ((or "select" "oauth_select")
       (let ((index (atomic-dialog--choose prompt (atomic-dialog--labels (plist-get dialog :options)))))
         (if index (list :index index) (signal 'quit nil))))
      ("confirm" (pcase (atomic-dialog--choose prompt '("yes" "no"))
                   (0 (list :confirmed t))
                   (1 (list :confirmed :json-false))
                   (_ (signal 'quit nil))))
      (_ (list :value
               (if (atomic-session-true-p (plist-get dialog :secret))
                   (read-passwd prompt)
                 (let ((hint (plist-get dialog :placeholder)))
                   (read-string (if (stringp hint)
                                    (format "%s (%s): " (atomic-dialog--title dialog) (atomic-render-one-line hint))
                                  prompt)
                                (plist-get dialog :prefill)))))))))

(defun atomic-dialog-open (client dialog)
  "Let the person answer DIALOG of CLIENT; \\[keyboard-quit] postpones it."
  (if (equal (plist-get dialog :method) "editor")
      (atomic-dialog--edit client dialog)
    (let* ((id (plist-get dialog :id))
           (tag (make-symbol "atomic-dialog"))
           (answer (let ((atomic-dialog--open (cons (cons id tag) atomic-dialog--open)))
                     (condition-case nil
                         (catch tag (atomic-dialog--ask dialog))
                       (quit 'postponed)))))
      (pcase answer
        ('closed (message "Atomic: answered elsewhere: %s" (atomic-dialog--title dialog)))
        ('postponed (message "Atomic: postponed: %s" (atomic-dialog--title dialog)))
        (_ (atomic-dialog--answer client dialog answer))))))

;;;; A text in a buffer

(defvar-keymap atomic-dialog-edit-mode-map
  :doc "Keys of a text that the agent asks for."
  "C-c C-c" #'atomic-dialog-send
  "C-c C-k" #'atomic-dialog-refuse)

(define-derived-mode atomic-dialog-edit-mode text-mode "Atomic-Answer"
  "Major mode of a text that the agent asks for.")

(defun atomic-dialog--edit-buffer (id)
  "The buffer in which the question ID is answered, or nil."
  (cl-find-if (lambda (buffer)
                (equal id (plist-get (buffer-local-value 'atomic-dialog--dialog buffer) :id)))
              (buffer-list)))

(defun atomic-dialog--edit (client dialog)
  "Open a buffer for the answer to DIALOG of CLIENT."
  (pop-to-buffer
   (or (atomic-dialog--edit-buffer (plist-get dialog :id))
       (with-current-buffer (generate-new-buffer "*atomic answer*")
         (atomic-dialog-edit-mode)
         (insert (or (plist-get dialog :prefill) ""))
         (set-buffer-modified-p nil)
         (goto-char (point-min))
         (setq atomic-dialog--client client
               atomic-dialog--dialog dialog
               header-line-format
               (concat " " (string-replace "%" "%%" (atomic-dialog--title dialog))
                       (substitute-command-keys
                        " · \\[atomic-dialog-send] answers · \\[atomic-dialog-refuse] refuses · bury it to postpone")))
         (current-buffer)))))

(defun atomic-dialog-send ()
  "Answer the question of this buffer with its text."
  (interactive nil atomic-dialog-edit-mode)
  (let ((buffer (current-buffer))
        (dialog atomic-dialog--dialog))
    (atomic-client-intent
     atomic-dialog--client "answer"
     (list :dialog (plist-get dialog :id) :value (buffer-substring-no-properties (point-min) (point-max)))
     :accepted (lambda (failure)
                 (cond (failure (atomic-client-complain failure))
                       ((buffer-live-p buffer)
                        (with-current-buffer buffer (setq atomic-dialog--dialog nil))
                        (atomic-dialog--bury buffer)))))))

(defun atomic-dialog-refuse ()
  "Refuse to answer the question of this buffer."
  (interactive nil atomic-dialog-edit-mode)
  (atomic-dialog--answer atomic-dialog--client atomic-dialog--dialog (list :cancelled t)))

(defun atomic-dialog--bury (buffer)
  "Take BUFFER away, with its window if it was made for it."
  (let ((window (get-buffer-window buffer t)))
    (if window (quit-window t window) (kill-buffer buffer))))

;;;; What happens

(defun atomic-dialog--close (id)
  "Close the question ID, which is over."
  (when-let* ((open (assoc id atomic-dialog--open)))
    ;; After the batch: a throw would leave the others of its listeners untold.
    (run-at-time 0 nil (lambda ()
                         (when (memq open atomic-dialog--open)
                           (throw (cdr open) 'closed)))))
  (when-let* ((buffer (atomic-dialog--edit-buffer id)))
    (with-current-buffer buffer
      (setq atomic-dialog--dialog nil)
      (when (buffer-modified-p)
        (kill-new (buffer-substring-no-properties (point-min) (point-max)))
        (message "Atomic: the question is over; the text is in the kill ring")))
    (atomic-dialog--bury buffer)))

(defun atomic-dialog--update (client what)
  "Tell of questions in WHAT, facts of CLIENT, and close those that are over."
  (cond
   ((consp what)
    (dolist (fact what)
      (pcase (plist-get fact :type)
        ("dialog_opened"
         (message (substitute-command-keys "Atomic asks: %s (\\[atomic-next-attention])")
                  (atomic-dialog--title (plist-get fact :dialog))))
        ("dialog_settled" (atomic-dialog--close (plist-get fact :id))))))
   ((eq what 'reset)
    (let ((ids (mapcar (lambda (dialog) (plist-get dialog :id))
                       (atomic-session-dialogs (atomic-client-session client)))))
      (dolist (buffer (buffer-list))
        (let ((id (plist-get (buffer-local-value 'atomic-dialog--dialog buffer) :id)))
          (when (and id (eq client (buffer-local-value 'atomic-dialog--client buffer)) (not (member id ids)))
            (atomic-dialog--close id)))))))
  (force-mode-line-update t))

(defun atomic-dialog-watch ()
  "Tell of questions from now on, with a mark in the mode line."
  (add-hook 'atomic-client-update-functions #'atomic-dialog--update)
  (unless global-mode-string (setq global-mode-string '("")))
  (add-to-list 'global-mode-string '(:eval (atomic-dialog-mark)) t))

(defun atomic-next-attention ()
  "Open the oldest question of the agent."
  (interactive)
  (if-let* ((next (car (atomic-dialog-pending))))
      (atomic-dialog-open (car next) (cdr next))
    (message "Atomic asks nothing")))

(defun atomic-attention-list ()
  "Choose one of the open questions of the agent and answer it."
  (interactive)
  (let ((pending (or (atomic-dialog-pending) (user-error "Atomic asks nothing"))))
    (let ((index (atomic-dialog--choose
                  "Question: "
                  (atomic-dialog--labels (mapcar (lambda (it) (atomic-dialog--title (cdr it))) pending)))))
      (when index
        (let ((chosen (nth index pending)))
          (atomic-dialog-open (car chosen) (cdr chosen)))))))

(defun atomic-cancel-question ()
  "Refuse the oldest question of the agent."
  (interactive)
  (let ((next (or (car (atomic-dialog-pending)) (user-error "Atomic asks nothing"))))
    (atomic-dialog--answer (car next) (cdr next) (list :cancelled t))))

(provide 'atomic-dialog)
;;; atomic-dialog.el ends here

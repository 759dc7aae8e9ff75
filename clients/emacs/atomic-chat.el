;;; atomic-chat.el --- The transcript of a session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: one change of the buffer for each batch of facts; a window follows the end only while its point is there; the text is
;; read-only and without undo; killing the buffer stops nothing.
;; Must not know: how a prompt is written, how a question is answered.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'text-property-search)
(require 'atomic-client)
(require 'atomic-render)

(defvar-local atomic-chat-client nil "The client whose session this buffer belongs to.")

(defvar atomic-run-finished-functions nil
  "Called with a client and the outcome, a plist, when a run is over.")

(defvar atomic-chat-buffer-functions nil
  "Called in a new transcript buffer.")

(defconst atomic-chat--keywords
  '(("^#+ .*$" 0 'bold prepend)
    ("^```.*$" 0 'font-lock-comment-face prepend)
    ("`[^`\n]+`" 0 'font-lock-constant-face prepend)
    ("\\*\\*[^*\n]+\\*\\*" 0 'bold prepend))
  "A light fontification of Markdown.")

(defvar-keymap atomic-chat-mode-map
  :doc "Keys of a transcript."
  :parent special-mode-map
  "TAB" #'atomic-chat-toggle
  "RET" #'atomic-chat-toggle
  "n" #'atomic-chat-next
  "p" #'atomic-chat-previous
  "<mouse-2>" #'atomic-chat-toggle-mouse
  "S-TAB" #'atomic-chat-toggle-all
  "<backtab>" #'atomic-chat-toggle-all)

(define-derived-mode atomic-chat-mode special-mode "Atomic"
  "Major mode of the transcript of a session with the agent."
  (setq-local font-lock-defaults '(atomic-chat--keywords t))
  (setq-local imenu-create-index-function #'atomic-chat--index)
  (setq-local revert-buffer-function (lambda (&rest _) (atomic-chat--show atomic-chat-client 'reset)))
  (setq-local word-wrap t)
  (setq-local truncate-lines nil)
  (add-to-invisibility-spec '(atomic . t))
  (buffer-disable-undo))

(defun atomic-chat-buffer-name (client)
  "The name of CLIENT's transcript."
  (format "*atomic: %s*" (abbreviate-file-name (directory-file-name (atomic-client-root client)))))

(defun atomic-chat-find-buffer (client)
  "The transcript of CLIENT, or nil."
  (cl-find-if (lambda (buffer)
                (and (eq (buffer-local-value 'atomic-chat-client buffer) client)
                     (with-current-buffer buffer (derived-mode-p 'atomic-chat-mode))))
              (buffer-list)))

(defun atomic-chat-buffer (client)
  "The transcript of CLIENT, made if there is none."
  (or (atomic-chat-find-buffer client)
      (with-current-buffer (generate-new-buffer (atomic-chat-buffer-name client))
        (atomic-chat-mode)
        (setq atomic-chat-client client
              default-directory (atomic-client-root client))
        (run-hooks 'atomic-chat-buffer-functions)
        (atomic-chat--show client 'reset)
        (current-buffer))))

;;;; The header line

(defun atomic-chat--tokens (count)
  "COUNT of tokens, for a person."
  (cond ((not (numberp count)) "0")
        ((>= count 1000000) (format "%.1fM" (/ count 1000000.0)))
        ((>= count 1000) (format "%.1fk" (/ count 1000.0)))
        (t (number-to-string count))))

(defun atomic-chat-header (client)
  "What CLIENT's session is and does, in one line."
  (let* ((session (atomic-client-session client))
         (state (atomic-session-state session))
         (usage (atomic-session-usage session))
         (model (plist-get state :model))
         (thinking (plist-get state :thinkingLevel))
         (queued (+ (length (atomic-session-steering session)) (length (atomic-session-follow-up session))))
         (questions (length (atomic-session-dialogs session))))
    (string-join
     (delq nil
           (list (atomic-render-one-line
                  (format "%s" (or (plist-get model :name) (plist-get model :id)
                                   (plist-get (plist-get (atomic-session-agent session) :identity) :name)
                                   "atomic")))
                 (and (stringp thinking) (not (equal thinking "off")) thinking)
                 (if (atomic-client-live-p client)
                     (atomic-session-phase session)
                   "not connected")
                 (format "↑%s ↓%s" (atomic-chat--tokens (plist-get usage :input))
                         (atomic-chat--tokens (plist-get usage :output)))
                 (format "$%.3f" (or (plist-get usage :cost) 0))
                 (and (> queued 0) (format "queue %d" queued))
                 (and (> questions 0)
                      (propertize (format "⚑ %d" questions) 'face 'warning
                                  'help-echo "Questions of the agent: M-x atomic-next-attention"))
                 (let ((statuses (cl-loop for (_ text) on (atomic-session-statuses session) by #'cddr
                                          if (stringp text) collect (atomic-render-one-line text))))
                   (and statuses (string-join statuses " ")))))
     " · ")))

;;;; Updates

(defun atomic-chat--show (client what)
  "Show WHAT, facts or a symbol, of CLIENT in its transcript."
  (when-let* ((buffer (atomic-chat-find-buffer client)))
    (with-current-buffer buffer
      (let* ((inhibit-read-only t)
             (session (atomic-client-session client))
             (following (= (point) (point-max)))
             (windows (seq-filter (lambda (window) (= (window-point window) (point-max)))
                                  (get-buffer-window-list buffer nil t))))
        (with-silent-modifications
          (save-excursion
            (pcase what
              ('reset (atomic-render-all session))
              ('gone (atomic-render-note "The language server ended; the next command starts it again." 'note))
              (_ (atomic-render-facts session what)))))
        (when following (goto-char (point-max)))
        (dolist (window windows) (set-window-point window (point-max)))
        (setq header-line-format
              (concat " " (string-replace "%" "%%" (atomic-chat-header client))))))))

(defun atomic-chat--update (client what)
  "Show WHAT of CLIENT, and tell what else wants to know it."
  (atomic-chat--show client what)
  (when (consp what)
    (dolist (fact what)
      (pcase (plist-get fact :type)
        ("agent_settled"
         (run-hook-with-args 'atomic-run-finished-functions client (plist-get fact :outcome)))
        ("extension_ui_request"
         (when (equal (plist-get fact :method) "notify")
           (message "Atomic: %s" (atomic-render-one-line (format "%s" (plist-get fact :message))))))))))

(defun atomic-chat-watch ()
  "Let transcripts be told of what happens."
  (add-hook 'atomic-client-update-functions #'atomic-chat--update))

;;;; Commands

(defun atomic-chat-toggle ()
  "Fold or show the thinking or the tool call at point."
  (interactive nil atomic-chat-mode)
  (let ((entry (get-text-property (point) 'atomic-entry)))
    (unless (and entry (atomic-render-entry-overlay entry))
      (user-error "Nothing to fold here"))
    (atomic-render-fold entry (not (atomic-render-entry-folded entry)))
    (when (atomic-render-entry-folded entry)
      (goto-char (atomic-render-entry-start entry)))))

(defun atomic-chat-toggle-mouse (event)
  "Fold or show what EVENT clicked."
  (interactive "e" atomic-chat-mode)
  (mouse-set-point event)
  (atomic-chat-toggle))

(defun atomic-chat-toggle-all ()
  "Show all thinking and all tools, or fold them if none is folded."
  (interactive nil atomic-chat-mode)
  (let* ((entries nil)
         (at (point-min)))
    (while (< at (point-max))
      (let ((entry (get-text-property at 'atomic-entry)))
        (when (and entry (atomic-render-entry-overlay entry)) (cl-pushnew entry entries))
        (setq at (next-single-property-change at 'atomic-entry nil (point-max)))))
    (let ((fold (cl-notany #'atomic-render-entry-folded entries)))
      (dolist (entry entries) (atomic-render-fold entry fold)))))

(defun atomic-chat-next (&optional count)
  "Go to the COUNTth next thing that the person said."
  (interactive "p" atomic-chat-mode)
  (dotimes (_ (or count 1))
    (when-let* ((found (save-excursion
                         (end-of-line)
                         (text-property-search-forward 'atomic-turn t t))))
      (goto-char (prop-match-beginning found)))))

(defun atomic-chat-previous (&optional count)
  "Go to the COUNTth previous thing that the person said."
  (interactive "p" atomic-chat-mode)
  (dotimes (_ (or count 1))
    (when-let* ((found (text-property-search-backward 'atomic-turn t t)))
      (goto-char (prop-match-beginning found)))))

(defun atomic-chat--index ()
  "The index of what the person said, for Imenu."
  (save-excursion
    (goto-char (point-min))
    (let (found index)
      (while (setq found (text-property-search-forward 'atomic-turn t t))
        (let ((at (prop-match-beginning found)))
          (forward-line 1)
          (push (cons (atomic-render-one-line (buffer-substring-no-properties (point) (line-end-position)) 60) at)
                index)))
      (nreverse index))))

(provide 'atomic-chat)
;;; atomic-chat.el ends here

;;; atomic-chat.el --- The transcript of a session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: one change of the buffer for each batch of facts; a window follows the end only while its point is there; the text is
;; read-only and without undo; killing the buffer stops nothing.
;; Must not know: how a prompt is written, how a question is answered.

;;; Code:

(require 'cl-lib)
(require 'outline)
(require 'text-property-search)
(require 'atomic-client)
(require 'atomic-header)
(require 'atomic-markup)
(require 'atomic-render)

(defvar-local atomic-chat-client nil "The client whose session this buffer belongs to.")

(defvar atomic-chat-buffer-functions nil
  "Called with a client in its new transcript buffer.")

(defvar-keymap atomic-chat-mode-map
  :doc "Keys of a transcript."
  :parent special-mode-map
  "TAB" #'atomic-chat-toggle
  "n" #'atomic-chat-next
  "p" #'atomic-chat-previous
  "w" #'atomic-chat-copy
  "S-TAB" #'atomic-chat-toggle-all
  "<backtab>" #'atomic-chat-toggle-all)

(define-derived-mode atomic-chat-mode special-mode "Atomic"
  "Major mode of the transcript of a session with the agent."
  (setq-local font-lock-defaults '(atomic-markup-keywords t))
  (setq-local imenu-create-index-function #'atomic-chat--index)
  (setq-local revert-buffer-function (lambda (&rest _) (atomic-chat--show atomic-chat-client 'reset)))
  ;; What is copied is text, without our buttons and marks.
  (setq-local filter-buffer-substring-function
              (lambda (start end &optional _delete) (buffer-substring-no-properties start end)))
  (setq-local word-wrap t)
  (setq-local truncate-lines nil)
  (setq-local outline-search-function
              (lambda (&rest arguments) (apply #'outline-search-text-property 'atomic-head nil arguments)))
  (setq-local outline-level (lambda () (or (get-text-property (point) 'atomic-head) 2)))
  (outline-minor-mode 1)
  (buffer-disable-undo))

(defun atomic-chat-find-buffer (client)
  "The transcript of CLIENT, or nil."
  (cl-find-if (lambda (buffer) (eq (buffer-local-value 'atomic-chat-client buffer) client))
              (buffer-list)))

(defun atomic-chat--killed ()
  "Tell the person that a run is not stopped by killing its transcript."
  (when (and atomic-chat-client
             (atomic-client-live-p atomic-chat-client)
             (atomic-session-run (atomic-client-session atomic-chat-client)))
    (message (substitute-command-keys "Atomic: the run goes on; \\[atomic] shows it, \\[atomic-stop] stops it"))))

(defun atomic-chat-buffer (client)
  "The transcript of CLIENT, made if there is none."
  (or (atomic-chat-find-buffer client)
      (with-current-buffer (generate-new-buffer (format "*atomic: %s*" (atomic-client-label client)))
        (atomic-chat-mode)
        (setq atomic-chat-client client
              default-directory (atomic-client-root client))
        (add-hook 'kill-buffer-hook #'atomic-chat--killed nil t)
        (run-hook-with-args 'atomic-chat-buffer-functions client)
        (atomic-chat--show client 'reset)
        (current-buffer))))

;;;; Updates

(defun atomic-chat--write (client what)
  "Write WHAT, facts or a symbol, of CLIENT into the current buffer."
  (let ((session (atomic-client-session client)))
    (pcase what
      ('reset (atomic-render-all session))
      ('gone (atomic-entry-note "The language server ended; the next command starts it again." 'note))
      ((pred consp) (atomic-render-facts session what)))))

(defun atomic-chat--show (client what)
  "Show WHAT, facts or a symbol, of CLIENT in its transcript."
  (when-let* ((buffer (atomic-chat-find-buffer client)))
    (with-current-buffer buffer
      (let* ((inhibit-read-only t)
             (following (= (point) (point-max)))
             (windows (seq-filter (lambda (window) (= (window-point window) (point-max)))
                                  (get-buffer-window-list buffer nil t))))
        (with-silent-modifications
          (save-excursion
            (save-match-data (atomic-chat--write client what))))
        (when following (goto-char (point-max)))
        (dolist (window windows) (set-window-point window (point-max)))
        (let ((header (atomic-header-line client)))
          (unless (equal-including-properties header header-line-format)
            (setq header-line-format header)))))))

(defun atomic-chat-watch ()
  "Let transcripts be told of what happens."
  (add-hook 'atomic-client-update-functions #'atomic-chat--show))

;;;; Commands

(defun atomic-chat--entry ()
  "The entry at point or just before it, or nil."
  (or (get-text-property (point) 'atomic-entry)
      (and (not (bobp)) (get-text-property (1- (point)) 'atomic-entry))))

(defun atomic-chat-toggle ()
  "Fold or show the turn, the thinking or the tool call at point."
  (interactive nil atomic-chat-mode)
  (let ((entry (atomic-chat--entry)))
    (cond ((and entry (eq (atomic-entry-kind entry) 'user))
           (goto-char (atomic-entry-start entry))
           (outline-toggle-children))
          ((and entry (atomic-entry-foldable-p entry))
           (atomic-entry-fold entry (not (atomic-entry-folded-p entry)))
           (when (atomic-entry-folded-p entry)
             (goto-char (atomic-entry-start entry))))
          (t (user-error "Nothing to fold here")))))

(defun atomic-chat--foldable ()
  "All entries of thinking and tools."
  (let ((at (point-min)) entries)
    (while (< at (point-max))
      (let ((entry (get-text-property at 'atomic-entry)))
        (when (and entry (memq (atomic-entry-kind entry) '(thinking tool)) (atomic-entry-foldable-p entry))
          (cl-pushnew entry entries))
        (setq at (next-single-property-change at 'atomic-entry nil (point-max)))))
    entries))

(defun atomic-chat-toggle-all ()
  "Show all thinking and all tools, or fold them if none is folded."
  (interactive nil atomic-chat-mode)
  (let* ((entries (atomic-chat--foldable))
         (fold (cl-notany #'atomic-entry-folded-p entries)))
    (dolist (entry entries) (atomic-entry-fold entry fold))))

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

(defun atomic-chat--code-block ()
  "The bounds of the code block at point, or nil."
  (save-excursion
    (let ((at (point)) from)
      (when (and (progn (end-of-line) (re-search-backward "^```" nil t))
                 (progn (forward-line 1) (setq from (point)))
                 (re-search-forward "^```[ \t]*$" nil t)
                 (<= from (line-beginning-position))
                 (<= at (line-end-position)))
        (cons from (line-beginning-position))))))

(defun atomic-chat-copy ()
  "Copy the region, else the code block, else the whole entry at point."
  (interactive nil atomic-chat-mode)
  (let* ((entry (atomic-chat--entry))
         (bounds (cond ((use-region-p) (cons (region-beginning) (region-end)))
                       ((and entry (eq (atomic-entry-kind entry) 'text) (atomic-chat--code-block)))
                       (entry (cons (atomic-entry-body entry) (atomic-entry-end entry)))
                       (t (user-error "There is nothing to copy here")))))
    (kill-new (buffer-substring-no-properties (car bounds) (cdr bounds)))
    (deactivate-mark)
    (message "Copied %d characters" (- (cdr bounds) (car bounds)))))

(defun atomic-chat--index ()
  "The index of what the person said, for Imenu."
  (save-excursion
    (goto-char (point-min))
    (let (found index)
      (while (setq found (text-property-search-forward 'atomic-turn t t))
        (let ((at (prop-match-beginning found)))
          (forward-line 1)
          (push (cons (atomic-entry-one-line (buffer-substring-no-properties (point) (line-end-position)) 60) at)
                index)))
      (nreverse index))))

(provide 'atomic-chat)
;;; atomic-chat.el ends here

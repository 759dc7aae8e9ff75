;;; atomic-changes.el --- A list of what the agent changed  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: every file that the agent changed in this session with its diff, in the faces of diff-mode; a file or one hunk can be
;; taken back or accepted; a buffer with unsaved changes is never overwritten.
;; Must not know: how the original of a file is kept.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'ediff)
(require 'outline)
(require 'subr-x)
(require 'atomic-command)
(require 'atomic-files)
(require 'atomic-intent)

(defvar-local atomic-changes--client nil "The client that this list is of.")

(defvar-keymap atomic-changes-mode-map
  :doc "Keys of the list of changed files."
  :parent special-mode-map
  "n" #'atomic-changes-next
  "p" #'atomic-changes-previous
  "RET" #'atomic-changes-visit
  "e" #'atomic-changes-ediff
  "r" #'atomic-changes-revert
  "R" #'atomic-changes-revert-file
  "a" #'atomic-changes-accept
  "TAB" #'outline-toggle-children)

(define-derived-mode atomic-changes-mode special-mode "Atomic-Changes"
  "Major mode of the list of files that the agent changed.
\\{atomic-changes-mode-map}"
  (setq-local revert-buffer-function (lambda (&rest _) (atomic-changes--fetch (current-buffer))))
  (setq-local outline-search-function
              (lambda (&rest arguments) (apply #'outline-search-text-property 'atomic-file nil arguments)))
  (setq-local outline-level (lambda () 1))
  (outline-minor-mode 1)
  (setq header-line-format
        (substitute-command-keys
         " \\[atomic-changes-revert] takes the hunk back · \\[atomic-changes-revert-file] the file · \\[atomic-changes-accept] accepts · \\[atomic-changes-ediff] Ediff")))

(defun atomic-changes--line (line)
  "LINE of a hunk in its face."
  (propertize line 'font-lock-face (pcase (and (> (length line) 0) (aref line 0))
                                     (?+ 'diff-added) (?- 'diff-removed) (_ 'diff-context))))

(defun atomic-changes--insert (file root)
  "Insert FILE, whose project is at ROOT."
  (let ((from (point)))
    (insert (propertize (format "%s %s  +%s −%s" (plist-get file :status)
                                (file-relative-name (plist-get file :path) (file-local-name root))
                                (or (plist-get file :added) 0) (or (plist-get file :removed) 0))
                        'font-lock-face 'diff-file-header 'atomic-file t)
            "\n")
    (seq-do-indexed
     (lambda (hunk index)
       (let ((start (point)))
         (insert (propertize (plist-get hunk :header) 'font-lock-face 'diff-hunk-header)
                 (if (eq (plist-get hunk :mixed) t) "  somebody else changed these lines, too" "")
                 "\n")
         (seq-do (lambda (line) (insert (atomic-changes--line (string-remove-suffix "\r" line)) "\n"))
                 (plist-get hunk :lines))
         (put-text-property start (point) 'atomic-hunk (cons index (plist-get hunk :header)))
         (put-text-property start (point) 'atomic-line (plist-get hunk :newStart))))
     (plist-get file :hunks))
    (when (plist-get file :note) (insert (propertize (plist-get file :note) 'font-lock-face 'shadow) "\n"))
    (put-text-property from (point) 'atomic-changed file)
    (insert "\n")))

(defun atomic-changes--show (data)
  "Show the files in DATA in the current buffer."
  (let ((inhibit-read-only t)
        (line (line-number-at-pos)))
    (erase-buffer)
    (seq-do (lambda (file) (atomic-changes--insert file default-directory)) (plist-get data :files))
    (when (bobp) (insert "The agent has changed no file in this session.\n"))
    (goto-char (point-min))
    (forward-line (1- line))))

(defun atomic-changes--fetch (buffer)
  "Read the list in BUFFER again."
  (atomic-intent-read (buffer-local-value 'atomic-changes--client buffer) "atomic.listChanges" nil
                      (lambda (failure data)
                        (cond (failure (atomic-client-complain failure))
                              ((buffer-live-p buffer)
                               (with-current-buffer buffer (atomic-changes--show data)))))))

(defun atomic-changes-list (client)
  "List the files that the agent wrote in CLIENT's session."
  (let ((buffer (get-buffer-create (format "*atomic changes: %s*" (atomic-client-label client)))))
    (with-current-buffer buffer
      (atomic-changes-mode)
      (setq atomic-changes--client client
            default-directory (atomic-client-root client))
      (atomic-changes--fetch buffer))
    (pop-to-buffer buffer)))

;;;; On a file or a hunk

(defun atomic-changes--file ()
  "The file at point."
  (or (get-text-property (point) 'atomic-changed) (user-error "There is no file here")))

(defun atomic-changes--path (file)
  "The path of FILE in this Emacs."
  (concat (file-remote-p default-directory) (plist-get file :path)))

(defun atomic-changes-next ()
  "Go to the next file."
  (interactive nil atomic-changes-mode)
  (outline-next-heading))

(defun atomic-changes-previous ()
  "Go to the previous file."
  (interactive nil atomic-changes-mode)
  (outline-previous-heading))

(defun atomic-changes-visit ()
  "Visit the place at point in another window."
  (interactive nil atomic-changes-mode)
  (let ((line (get-text-property (point) 'atomic-line)))
    (find-file-other-window (atomic-changes--path (atomic-changes--file)))
    (when (numberp line)
      (goto-char (point-min))
      (forward-line (1- line)))))

(defun atomic-changes--original (file)
  "A buffer with FILE as it was before the agent."
  (let ((now (find-file-noselect (atomic-changes--path file)))
        (mode nil))
    (with-current-buffer (generate-new-buffer (format "*%s before*" (file-name-nondirectory (plist-get file :path))))
      (insert (with-current-buffer now
                (setq mode major-mode)
                (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max)))))
      ;; Backwards, so that the places of the hunks before stay right.
      (dolist (hunk (reverse (append (plist-get file :hunks) nil)))
        (goto-char (point-min))
        (forward-line (1- (max 1 (plist-get hunk :newStart))))
        (delete-region (point) (progn (forward-line (plist-get hunk :newLines)) (point)))
        (seq-do (lambda (line)
                  (unless (memq (and (> (length line) 0) (aref line 0)) '(?+ ?\\))
                    ;; Emacs took the carriage returns out of the text, too.
                    (insert (string-remove-suffix "\r" (substring line (min 1 (length line)))) "\n")))
                (plist-get hunk :lines)))
      (delay-mode-hooks (funcall mode))
      (setq buffer-read-only t)
      (set-buffer-modified-p nil)
      (current-buffer))))

(defun atomic-changes-ediff ()
  "Compare the file at point with what it was, by Ediff."
  (interactive nil atomic-changes-mode)
  (let ((file (atomic-changes--file)))
    (unless (file-exists-p (atomic-changes--path file))
      (user-error "The file is not there any more; `atomic-changes-revert-file' brings it back"))
    (let ((before (atomic-changes--original file)))
      (ediff-buffers before (find-file-noselect (atomic-changes--path file))
                     (list (lambda ()
                             (add-hook 'ediff-quit-hook (lambda () (kill-buffer before)) t t)))))))

(defun atomic-changes--act (id params file)
  "Carry out the command ID with PARAMS about FILE, then read the list again."
  (let ((buffer (current-buffer))
        (visiting (find-buffer-visiting (atomic-changes--path file))))
    (when (and visiting (buffer-modified-p visiting) (equal id "atomic.revertFile"))
      (user-error "%s has unsaved changes: save or undo them first" (buffer-name visiting)))
    (atomic-command-run atomic-changes--client id params
                        (lambda (_)
                          (when (buffer-live-p visiting) (atomic-files-look visiting))
                          (when (buffer-live-p buffer) (atomic-changes--fetch buffer))))))

(defun atomic-changes-revert ()
  "Take back the hunk at point."
  (interactive nil atomic-changes-mode)
  (let ((file (atomic-changes--file))
        (hunk (or (get-text-property (point) 'atomic-hunk)
                  (user-error "There is no hunk here; `atomic-changes-revert-file' takes the whole file back"))))
    (atomic-changes--act "atomic.revertFile"
                         (list :path (plist-get file :path) :hunk (car hunk) :header (cdr hunk)) file)))

(defun atomic-changes-revert-file ()
  "Take back all that the agent changed in the file at point."
  (interactive nil atomic-changes-mode)
  (let ((file (atomic-changes--file)))
    (when (y-or-n-p (format "Take back all changes of the agent in %s? "
                            (file-name-nondirectory (plist-get file :path))))
      (atomic-changes--act "atomic.revertFile" (list :path (plist-get file :path)) file))))

(defun atomic-changes-accept ()
  "Take the file at point off the list, as it is now."
  (interactive nil atomic-changes-mode)
  (let ((file (atomic-changes--file)))
    (atomic-changes--act "atomic.acceptChanges" (list :path (plist-get file :path)) file)))

(provide 'atomic-changes)
;;; atomic-changes.el ends here

;;; atomic-draft.el --- Drafts and earlier prompts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: what is written and not sent survives its buffer and this Emacs; what was sent can be had again; the draft that was
;; there before the history was looked at comes back.
;; Must not know: how a prompt is sent.

;;; Code:

(require 'cl-lib)
(require 'ring)
(require 'subr-x)

(defcustom atomic-draft-directory (locate-user-emacs-file "atomic/drafts/")
  "Where drafts of prompts are kept, or nil to keep none."
  :type '(choice directory (const :tag "Nowhere" nil))
  :group 'atomic)

(defcustom atomic-history-length 100
  "How many earlier prompts are kept for each session."
  :type 'natnum
  :group 'atomic)

(defvar-local atomic-draft--file nil "Where the draft of this buffer is kept.")
(defvar-local atomic-draft--history nil "A ring of what was sent.")
(defvar-local atomic-draft--place nil "Where in the history the text is, or nil.")
(defvar-local atomic-draft--before nil "The draft that was there before the history was looked at.")

;;;; Kept drafts

(defun atomic-draft-save ()
  "Keep the text of this buffer, or forget what was kept if there is none."
  (when atomic-draft--file
    (with-demoted-errors "Atomic: the draft could not be kept: %S"
      (if (string-blank-p (buffer-string))
          (when (file-exists-p atomic-draft--file) (delete-file atomic-draft--file))
        (make-directory (file-name-directory atomic-draft--file) t)
        (let ((coding-system-for-write 'utf-8-unix))
          (with-file-modes #o600
            (write-region nil nil atomic-draft--file nil 'silent)))))))

(defun atomic-draft--save-all ()
  "Keep the drafts of all buffers."
  (dolist (buffer (buffer-list))
    (when (buffer-local-value 'atomic-draft--file buffer)
      (with-current-buffer buffer (atomic-draft-save)))))

(defun atomic-draft-begin (key)
  "Let this buffer hold the draft of KEY, a text."
  (setq atomic-draft--history (make-ring atomic-history-length))
  (when atomic-draft-directory
    (setq atomic-draft--file (expand-file-name (secure-hash 'sha1 key) atomic-draft-directory))
    (when (file-readable-p atomic-draft--file)
      (let ((coding-system-for-read 'utf-8-unix))
        (insert-file-contents atomic-draft--file))
      (goto-char (point-max)))
    (ignore-errors (make-directory atomic-draft-directory t))
    (setq buffer-auto-save-file-name atomic-draft--file)
    (setq-local auto-save-include-big-deletions t)
    (add-hook 'kill-buffer-hook #'atomic-draft-save nil t)
    (add-hook 'kill-emacs-hook #'atomic-draft--save-all)))

;;;; Earlier prompts

(defun atomic-draft-remember (text)
  "Put TEXT, which was sent, into the history of this buffer."
  (setq atomic-draft--place nil)
  (let ((old (ring-member atomic-draft--history text)))
    (when old (ring-remove atomic-draft--history old)))
  (ring-insert atomic-draft--history text))

(defun atomic-draft-learn (texts)
  "Let the history of this buffer hold TEXTS, oldest first, before its own."
  (dolist (text (reverse texts))
    (unless (or (string-blank-p text) (ring-member atomic-draft--history text)
                (= (ring-length atomic-draft--history) (ring-size atomic-draft--history)))
      (ring-insert-at-beginning atomic-draft--history text))))

(defun atomic-draft--go (place)
  "Show the prompt at PLACE of the history, or the draft if it is nil."
  (unless atomic-draft--place (setq atomic-draft--before (buffer-string)))
  (setq atomic-draft--place place)
  (erase-buffer)
  (insert (if place (ring-ref atomic-draft--history place) (or atomic-draft--before ""))))

(defun atomic-draft-older ()
  "Show the prompt that was sent before this one."
  (interactive)
  (let ((place (if atomic-draft--place (1+ atomic-draft--place) 0)))
    (if (>= place (ring-length atomic-draft--history))
        (user-error "There is no earlier prompt")
      (atomic-draft--go place))))

(defun atomic-draft-newer ()
  "Show the prompt that was sent after this one, at last the draft."
  (interactive)
  (unless atomic-draft--place (user-error "This is the draft"))
  (atomic-draft--go (and (> atomic-draft--place 0) (1- atomic-draft--place))))

(defun atomic-draft-search ()
  "Choose an earlier prompt."
  (interactive)
  (let* ((texts (or (ring-elements atomic-draft--history) (user-error "There is no earlier prompt")))
         (lines (mapcar (lambda (text) (cons (string-replace "\n" " ⏎ " text) text)) texts))
         (chosen (completing-read "Earlier prompt: "
                                  (lambda (text predicate action)
                                    (if (eq action 'metadata)
                                        '(metadata (display-sort-function . identity))
                                      (complete-with-action action lines text predicate)))
                                  nil t)))
    (atomic-draft--go (cl-position (cdr (assoc chosen lines)) texts :test #'equal))))

(provide 'atomic-draft)
;;; atomic-draft.el ends here

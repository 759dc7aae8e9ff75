;;; atomic-quote.el --- Code and diagnostics for a prompt  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: code goes with its place and its language, in a fence that it does not close; unsaved text is said to be so.
;; Must not know: clients, buffers of prompts.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(declare-function flymake-diagnostics "flymake")
(declare-function flymake-diagnostic-beg "flymake")
(declare-function flymake-diagnostic-text "flymake")
(declare-function flycheck-error-line "ext:flycheck")
(declare-function flycheck-error-message "ext:flycheck")
(defvar flycheck-current-errors)

(defun atomic-quote-file (root)
  "The name of this buffer's file as the agent at ROOT knows it, or nil."
  (when buffer-file-name
    (if (file-in-directory-p buffer-file-name root)
        (file-relative-name buffer-file-name root)
      (file-local-name buffer-file-name))))

(defun atomic-quote--language ()
  "The word for a fence around text of this buffer."
  (let ((name (string-trim-right (symbol-name major-mode) "\\(?:-ts\\)?-mode")))
    (pcase name
      ((or "text" "fundamental") "")
      ("emacs-lisp" "elisp")
      (_ name))))

(defun atomic-quote-region (start end root)
  "The text from START to END as a fenced block, with its place under ROOT."
  (let* ((text (string-trim-right (buffer-substring-no-properties start end) "\n+"))
         (file (atomic-quote-file root))
         (fence "```"))
    (while (string-search fence text) (setq fence (concat fence "`")))
    (concat (if file
                (format "`%s:%d-%d`%s\n" file
                        (line-number-at-pos start t)
                        (line-number-at-pos (max start (1- end)) t)
                        (if (buffer-modified-p) " (not saved yet)" ""))
              "")
            fence (atomic-quote--language) "\n" text "\n" fence "\n")))

(defun atomic-quote--reports ()
  "Reports of Flymake and Flycheck on this buffer, as pairs of a line and a text."
  (append
   (when (bound-and-true-p flymake-mode)
     (mapcar (lambda (it)
               (cons (line-number-at-pos (flymake-diagnostic-beg it) t) (flymake-diagnostic-text it)))
             (flymake-diagnostics)))
   (when (bound-and-true-p flycheck-mode)
     (mapcar (lambda (it) (cons (flycheck-error-line it) (flycheck-error-message it)))
             flycheck-current-errors))))

(defun atomic-quote-diagnostics (&optional start end)
  "Reports on this buffer from START to END, one line each, or nil."
  (let ((first (and start (line-number-at-pos start t)))
        (last (and end (line-number-at-pos (max start (1- end)) t))))
    (cl-loop for (line . text) in (sort (atomic-quote--reports) #'car-less-than-car)
             if (or (not first) (<= first line last))
             collect (format "line %d: %s" line (string-replace "\n" " " (or text ""))))))

(provide 'atomic-quote)
;;; atomic-quote.el ends here

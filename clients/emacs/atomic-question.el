;;; atomic-question.el --- Questions in a transcript  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: an open question stands in the transcript with a button for each answer; when it is over a line says how it ended.
;; Must not know: how an answer travels.

;;; Code:

(require 'cl-lib)
(require 'button)
(require 'subr-x)
(require 'atomic-entry)

(defvar atomic-question-answer-function #'ignore
  "Called with a question and an answer, or nil for one to be written.")

(defvar-local atomic-question--entries nil "The entries of open questions, by their id.")

(define-button-type 'atomic-answer
  'action (lambda (button) (funcall atomic-question-answer-function (button-get button 'atomic-dialog)
                                    (button-get button 'atomic-answer)))
  'follow-link t
  'face 'link
  'help-echo "RET: answer")

(defun atomic-question--choices (dialog)
  "Labels and answers for DIALOG; the answer nil stands for one to write."
  (pcase (plist-get dialog :method)
    ((or "select" "oauth_select")
     (seq-map-indexed (lambda (option index)
                        (cons (format "%d %s" (1+ index) (atomic-entry-one-line (format "%s" option) 70))
                              (list :index index)))
                      (plist-get dialog :options)))
    ("confirm" (list (cons "yes" (list :confirmed t)) (cons "no" (list :confirmed :json-false))))
    (_ (list (cons "answer" nil)))))

(defun atomic-question-show (dialog)
  "Show DIALOG, which is open, with buttons for its answers."
  (when-let* ((old (gethash (plist-get dialog :id) atomic-question--entries)))
    (atomic-entry-remove old))
  (let* ((title (atomic-entry-clean (format "%s" (or (plist-get dialog :title) ""))))
         (message (plist-get dialog :message))
         (entry (atomic-entry-append 'question nil nil
                                     (concat "⚑ " title (if (stringp message) (concat "\n" (atomic-entry-clean message)) "")
                                             "\n"))))
    (dolist (choice (append (atomic-question--choices dialog) (list (cons "refuse" (list :cancelled t)))))
      (atomic-entry-grow entry (car choice))
      (make-text-button (- (point) (length (car choice))) (point) 'type 'atomic-answer
                        'atomic-dialog dialog 'atomic-answer (cdr choice))
      (atomic-entry-grow entry "   "))
    (puthash (plist-get dialog :id) entry atomic-question--entries)))

(defun atomic-question-settled (fact)
  "Take the question away that FACT settles, and say how it ended."
  (when-let* ((entry (gethash (plist-get fact :id) atomic-question--entries)))
    (let ((title (substring (car (split-string (atomic-entry-text entry) "\n")) 2))
          (answer (plist-get fact :answer))
          (by (plist-get fact :by)))
      (remhash (plist-get fact :id) atomic-question--entries)
      (atomic-entry-remove entry)
      (atomic-entry-note (concat title " — " (if (stringp answer) (atomic-entry-one-line answer 100)
                                                (plist-get fact :outcome))
                                  (if (plist-get by :name) (format " (%s)" (plist-get by :name)) ""))
                          'note))))

(defun atomic-question-forget ()
  "Begin anew in the current buffer."
  (setq atomic-question--entries (make-hash-table :test #'equal)))

(provide 'atomic-question)
;;; atomic-question.el ends here

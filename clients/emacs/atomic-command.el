;;; atomic-command.el --- Every command of the server  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: whatever the command table has can be called; what a command needs is asked for; nothing waits for an answer.
;; Must not know: what any command does, but for those that Emacs does in its own way.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'atomic-client)
(require 'atomic-intent)
(require 'atomic-lsp-commands)

(defvar atomic-command-own nil
  "Commands of the server that Emacs carries out in its own way.
Pairs of an id and a command of Emacs.")

(defun atomic-command-known-p (id)
  "Whether the server has the command ID."
  (assoc id atomic-lsp-commands))

(defun atomic-command-show (id data)
  "Show DATA, the answer to the command ID."
  (with-current-buffer (get-buffer-create (format "*%s*" id))
    (let ((inhibit-read-only t))
      (erase-buffer)
      (if (stringp data)
          (insert data)
        (insert (json-serialize data :null-object nil :false-object :json-false))
        (json-pretty-print-buffer))
      (goto-char (point-min))
      (special-mode))
    (display-buffer (current-buffer))))

(defun atomic-command-run (client id &optional argument done)
  "Carry out the command ID of CLIENT with ARGUMENT, a text, a plist or nil.
DONE is called with the data if there is any; without it they are shown.
The outcome of what takes its time is told when it is bad."
  (let ((row (cdr (assoc id atomic-lsp-commands))))
    (if (and (eq (plist-get row :kind) 'act) (consp argument))
        (atomic-intent client (plist-get row :name) argument
                       :settled (lambda (fact)
                                  (atomic-intent-settled-default fact)
                                  (when (and done (equal (plist-get fact :outcome) "done"))
                                    (funcall done (plist-get fact :data)))))
      (atomic-intent-read
       client id argument
       (lambda (failure data)
         (cond (failure (atomic-client-complain failure))
               ((and (consp data) (plist-get data :intent)) nil)
               (done (funcall done data))
               (data (atomic-command-show id data))))))))

(defun atomic-command-read ()
  "Let the person choose a command of the server and return its id."
  (let* ((titles (mapcar (lambda (row) (cons (plist-get (cdr row) :title) row)) atomic-lsp-commands))
         (completion-extra-properties
          (list :annotation-function
                (lambda (title) (concat "  " (plist-get (cddr (assoc title titles)) :doc)))
                :group-function
                (lambda (title transform)
                  (if transform title (plist-get (cddr (assoc title titles)) :group))))))
    (cadr (assoc (completing-read "Atomic: " titles nil t) titles))))

(defun atomic-command-call (client id)
  "Carry out the command ID of CLIENT; the server asks for what it needs."
  (let ((own (cdr (assoc id atomic-command-own))))
    (cond (own (call-interactively own))
          ((atomic-command-known-p id) (atomic-command-run client id))
          (t (user-error "This version of atomic-lsp has no command %s" id)))))

(provide 'atomic-command)
;;; atomic-command.el ends here

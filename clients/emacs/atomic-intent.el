;;; atomic-intent.el --- What the person wants of a session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: whoever sends an intent is told once whether it was accepted and once what came of it; nothing here waits.
;; Must not know: how anything is shown.

;;; Code:

(require 'cl-lib)
(require 'atomic-client)

(defvar atomic-intent-keys nil
  "The value of `num-nonmacro-input-events' when something was wanted last.
As long as it is the same the person has done nothing else since.")

(defun atomic-intent-settled-default (fact)
  "Show FACT, the outcome of an intent, if it is bad."
  (unless (equal (plist-get fact :outcome) "done")
    (atomic-client-complain (or (plist-get fact :error)
                                (format "%s: %s" (plist-get fact :command) (plist-get fact :outcome))))))

(cl-defun atomic-intent (client command params &key accepted settled)
  "Send COMMAND with PARAMS as an intent to CLIENT's session.
ACCEPTED is called when the hub took it, with nil, or with a sentence
why it did not; SETTLED with the fact that says what came of it.
Return the id of the intent."
  (let ((id (format "emacs-%d-%s-%d" (emacs-pid) (format-time-string "%s%N") (cl-incf atomic-client--count)))
        (accepted (or accepted (lambda (failure) (when failure (atomic-client-complain failure))))))
    (setq atomic-intent-keys num-nonmacro-input-events)
    (atomic-client-ensure
     client
     (lambda (failure)
       (if failure
           (funcall accepted failure)
         (let ((intent (list id command params accepted)))
           (puthash id (or settled #'atomic-intent-settled-default) (atomic-client-intents client))
           (push intent (atomic-client-unsure client))
           (atomic-client--send client intent)))))
    id))

(defun atomic-intent-read (client command params done)
  "Ask CLIENT for the data of COMMAND, a name such as \"atomic.getTree\".
PARAMS are a plist, a text or nil.  DONE is called with nil and the data, or
with a sentence."
  (setq atomic-intent-keys num-nonmacro-input-events)
  (atomic-client-ensure
   client
   (lambda (failure)
     (if failure
         (funcall done failure nil)
       (atomic-wire-request (atomic-client-connection client) :workspace/executeCommand
                            (list :command command :arguments (if params (vector params) (vector)))
                            done)))))

(defun atomic-intent-answer (client dialog answer &optional accepted)
  "Answer DIALOG of CLIENT with ANSWER, a plist.
ACCEPTED is called with nil, or with a sentence why it was not taken."
  (let ((params (append (list :dialog (plist-get dialog :id)) answer))
        (accepted (or accepted (lambda (failure) (when failure (atomic-client-complain failure))))))
    (if (not (memq dialog (atomic-client-questions client)))
        (atomic-intent client "answer" params :accepted accepted)
      ;; A question of the server itself is no fact; it is over when it is answered.
      (setf (atomic-client-questions client) (delq dialog (atomic-client-questions client)))
      (atomic-intent-read client "atomic.answer" params (lambda (failure _) (funcall accepted failure))))))

(provide 'atomic-intent)
;;; atomic-intent.el ends here

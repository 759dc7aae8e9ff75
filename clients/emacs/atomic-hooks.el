;;; atomic-hooks.el --- What others want to know  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Hooks for configurations and packages, and what the person is told without having asked.  Guarantees: a hook is run after the
;; session was changed; a function that fails stops no other; nothing takes a window or the focus.
;; Must not know: buffers, windows.

;;; Code:

(require 'cl-lib)
(require 'warnings)
(require 'atomic-client)
(require 'atomic-entry)

(declare-function notifications-notify "notifications")

(defcustom atomic-run-started-functions nil
  "Called with a client when the agent begins to work."
  :type 'hook
  :group 'atomic)

(defcustom atomic-run-finished-functions nil
  "Called with a client and the outcome, a plist, when a run is over."
  :type 'hook
  :group 'atomic)

(defcustom atomic-question-functions nil
  "Called with a client and a question, a plist, when the agent asks something."
  :type 'hook
  :group 'atomic)

(defcustom atomic-file-changed-functions nil
  "Called with a client and a file that a tool of the agent has written."
  :type 'hook
  :group 'atomic)

(defcustom atomic-session-replaced-functions nil
  "Called with a client when its conversation is another one."
  :type 'hook
  :group 'atomic)

(defcustom atomic-desktop-notifications nil
  "Whether the desktop tells of ended runs and questions.
Only while no frame of Emacs has the focus.  A function is called with a
title and a text instead."
  :type '(choice (const :tag "No" nil) (const :tag "Yes" t) function)
  :group 'atomic)

(defun atomic-hooks--run (hook &rest arguments)
  "Run HOOK with ARGUMENTS; what fails is told and stops no other."
  (run-hook-wrapped hook (lambda (function)
                           (with-demoted-errors "Atomic: %S" (apply function arguments))
                           nil)))

(defun atomic-hooks--focused-p ()
  "Whether a frame may have the focus."
  (cl-some (lambda (frame) (and (display-graphic-p frame) (eq (frame-focus-state frame) t))) (frame-list)))

(defun atomic-hooks--notify (client text)
  "Tell the desktop TEXT of CLIENT, if that is wanted."
  (let ((title (format "Atomic: %s" (atomic-client-label client))))
    (cond ((functionp atomic-desktop-notifications) (funcall atomic-desktop-notifications title text))
          ((and atomic-desktop-notifications (featurep 'dbusbind) (not (atomic-hooks--focused-p)))
           (require 'notifications)
           (with-demoted-errors "Atomic: %S"
             (notifications-notify :title title :body text :app-name "Emacs"))))))

(defun atomic-hooks--outcome (outcome)
  "OUTCOME of a run, in words."
  (let ((failure (plist-get outcome :errorMessage)))
    (cond ((stringp failure) (atomic-entry-one-line failure 200))
          ((equal (plist-get outcome :stopReason) "aborted") "stopped")
          (t "done"))))

(defun atomic-hooks--say (fact)
  "Show the text of FACT, a notification of an extension."
  (let ((text (atomic-entry-one-line (format "%s" (plist-get fact :message)))))
    (if (equal (plist-get fact :notifyType) "error")
        (display-warning 'atomic text :error)
      (message "Atomic: %s" text))))

(defun atomic-hooks--fact (client fact)
  "Tell others of FACT of CLIENT."
  (pcase (plist-get fact :type)
    ("agent_start" (atomic-hooks--run 'atomic-run-started-functions client))
    ("agent_settled"
     (let ((outcome (plist-get fact :outcome)))
       (atomic-hooks--run 'atomic-run-finished-functions client outcome)
       (atomic-hooks--notify client (atomic-hooks--outcome outcome))))
    ("dialog_opened"
     (let ((dialog (plist-get fact :dialog)))
       (atomic-hooks--run 'atomic-question-functions client dialog)
       (atomic-hooks--notify client (atomic-entry-one-line (format "%s" (plist-get dialog :title)) 200))))
    ("file_touched"
     (atomic-hooks--run 'atomic-file-changed-functions client
                        (concat (file-remote-p (atomic-client-root client)) (plist-get fact :path))))
    ("session_replaced" (atomic-hooks--run 'atomic-session-replaced-functions client))
    ("extension_ui_request" (when (equal (plist-get fact :method) "notify") (atomic-hooks--say fact)))))

(defun atomic-hooks--update (client what)
  "Tell others of WHAT, facts of CLIENT."
  (when (consp what)
    (dolist (fact what) (atomic-hooks--fact client fact))))

(defun atomic-hooks-watch ()
  "Tell others from now on."
  ;; After those who show it.
  (add-hook 'atomic-client-update-functions #'atomic-hooks--update 90))

(provide 'atomic-hooks)
;;; atomic-hooks.el ends here

;;; atomic-sessions.el --- Earlier and other sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: nothing waits for a list; what is chosen is done in the session that the list was made for.
;; Must not know: how a transcript is shown.

;;; Code:

(require 'cl-lib)
(require 'iso8601)
(require 'subr-x)
(require 'tabulated-list)
(require 'atomic-command)
(require 'atomic-dialog)
(require 'atomic-entry)
(require 'atomic-intent)
(require 'atomic-prompt)

(defvar-local atomic-sessions--client nil "The client that this list is of.")

(defvar atomic-sessions-open-function #'ignore
  "Called with a client to show its session.")

(defun atomic-sessions--when (session)
  "The time of SESSION, for a person and for sorting."
  (let ((time (plist-get session :modified)))
    (condition-case nil
        (format-time-string "%F %R" (if (numberp time) (/ time 1000.0) (encode-time (iso8601-parse time))))
      (error ""))))

(defun atomic-sessions--name (session)
  "What SESSION is called."
  (atomic-entry-one-line
   (or (cl-loop for key in '(:name :summary :firstMessage :id)
                for value = (plist-get session key)
                if (and (stringp value) (not (string-blank-p value))) return value)
       "")
   70))

(defun atomic-sessions--rows (sessions)
  "SESSIONS as entries of a list."
  (mapcar (lambda (session)
            (list session
                  (vector (atomic-sessions--when session)
                          (format "%s" (or (plist-get session :messageCount) ""))
                          (atomic-sessions--name session))))
          sessions))

(defvar-keymap atomic-sessions-mode-map
  :doc "Keys of the list of sessions."
  :parent tabulated-list-mode-map
  "RET" #'atomic-sessions-resume
  "o" #'atomic-sessions-visit
  "r" #'atomic-rename-session
  "e" #'atomic-export)

(define-derived-mode atomic-sessions-mode tabulated-list-mode "Atomic-Sessions"
  "Major mode of the list of earlier sessions of a project."
  (setq tabulated-list-format [("Changed" 17 t) ("Messages" 9 nil :right-align t) ("Session" 0 t)]
        tabulated-list-sort-key '("Changed" . t))
  (setq-local revert-buffer-function (lambda (&rest _) (atomic-sessions--fetch (current-buffer))))
  (tabulated-list-init-header))

(defun atomic-sessions--fetch (buffer)
  "Read the list in BUFFER again."
  (atomic-intent-read
   (buffer-local-value 'atomic-sessions--client buffer) "atomic.listSessions" nil
   (lambda (failure data)
     (cond (failure (atomic-client-complain failure))
           ((buffer-live-p buffer)
            (with-current-buffer buffer
              (setq tabulated-list-entries (atomic-sessions--rows (append (plist-get data :sessions) nil)))
              (tabulated-list-print t)
              (unless tabulated-list-entries (message "There is no earlier session of this folder"))))))))

(defun atomic-sessions-list (client)
  "Show the earlier sessions of CLIENT's project."
  (let ((buffer (get-buffer-create (format "*atomic sessions: %s*" (atomic-client-label client)))))
    (with-current-buffer buffer
      (atomic-sessions-mode)
      (setq atomic-sessions--client client
            default-directory (atomic-client-root client))
      (atomic-sessions--fetch buffer))
    (pop-to-buffer buffer)))

(defun atomic-sessions-current ()
  "The client that the current list is of."
  atomic-sessions--client)

(defun atomic-sessions--path ()
  "The file of the session at point."
  (or (plist-get (tabulated-list-get-id) :path) (user-error "There is no session here")))

(defun atomic-sessions-resume ()
  "Continue the session at point."
  (interactive nil atomic-sessions-mode)
  (let ((client atomic-sessions--client))
    (atomic-intent client "switch_session" (list :sessionPath (atomic-sessions--path)))
    (funcall atomic-sessions-open-function client)))

(defun atomic-sessions-visit ()
  "Visit the file of the session at point."
  (interactive nil atomic-sessions-mode)
  (find-file-other-window (concat (file-remote-p default-directory) (atomic-sessions--path))))

;;;; Names, exports

(defvar atomic-sessions-client-function #'ignore
  "Returns the client of the current buffer.")

;;;###autoload (autoload 'atomic-rename-session "atomic" nil t)
(defun atomic-rename-session (name)
  "Call the current session NAME."
  (interactive
   (list (read-string "Name of the session: "
                      (plist-get (atomic-session-state
                                  (atomic-client-session (funcall atomic-sessions-client-function)))
                                 :sessionName))))
  (atomic-intent (funcall atomic-sessions-client-function) "set_session_name" (list :name name)))

;;;###autoload (autoload 'atomic-export "atomic" nil t)
(defun atomic-export (file)
  "Write the current session to FILE, in HTML.
If FILE is empty the agent chooses."
  (interactive (list (read-file-name "Export to (empty: the agent chooses): " nil "")))
  (let ((client (funcall atomic-sessions-client-function)))
    (atomic-command-run client "atomic.exportHtml"
                        (if (string-empty-p file) (list :outputPath nil)
                          (list :outputPath (file-local-name (expand-file-name file))))
                        (lambda (data) (message "Atomic: written to %s" (plist-get data :path))))))

;;;; Forks

(defun atomic-sessions-fork (client)
  "Let the person choose the message before which CLIENT's session is forked.
Its text comes back into the prompt."
  (atomic-intent-read
   client "atomic.getForkMessages" nil
   (lambda (failure data)
     (let ((messages (append (plist-get data :messages) nil)))
       (cond (failure (atomic-client-complain failure))
             ((null messages) (atomic-client-complain "there is no message to fork before"))
             ;; After the answer was taken: a process filter is no place to read from the minibuffer.
             (t (run-at-time
                 0 nil
                 (lambda ()
                   (when-let* ((index (with-local-quit
                                        (atomic-dialog-choose
                                         "Fork before: "
                                         (atomic-dialog-labels
                                          (mapcar (lambda (message) (plist-get message :text)) messages))))))
                     (atomic-sessions--fork-before client (nth index messages)))))))))))

(defun atomic-sessions--fork-before (client message)
  "Fork CLIENT's session before MESSAGE."
  (atomic-command-run
   client "atomic.fork" (list :entryId (plist-get message :entryId))
   (lambda (data)
     (let ((text (plist-get data :text)))
       (when (and (stringp text) (not (string-blank-p text)))
         (atomic-prompt-add client text))))))

;;;; Several at once

(defun atomic-sessions--here-p (client session)
  "Whether SESSION, as the server lists it, is one of CLIENT's folder."
  (let ((root (atomic-client-root client))
        (folder (plist-get session :workspace)))
    (or (equal (file-name-as-directory folder) (file-name-as-directory (file-local-name root)))
        ;; On another host the folder's other names would have to be asked for.
        (and (not (file-remote-p root)) (file-equal-p folder root)))))

(defun atomic-sessions-names (client then)
  "Call THEN with the names of sessions of CLIENT's folder that there are."
  (atomic-intent-read client "atomic.listTabs" nil
                      (lambda (failure data)
                        (funcall then
                                 (cl-loop for session across (if failure [] (plist-get data :sessions))
                                          for name = (plist-get session :name)
                                          ;; The shared one is that without a name.
                                          if (and (not (equal name "default")) (atomic-sessions--here-p client session))
                                          collect name)))))

(provide 'atomic-sessions)
;;; atomic-sessions.el ends here

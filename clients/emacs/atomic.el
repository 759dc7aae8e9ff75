;;; atomic.el --- Work with a coding agent over atomic-lsp  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;; Author: The atomic-lsp authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: tools, convenience

;;; Commentary:

;; `M-x atomic' opens the session of the current project: a transcript, and below it a buffer to write in (C-c C-c sends).
;; Sessions belong to a hub, so other editors can watch the same one, and a closed Emacs stops nothing.  Questions of the
;; agent wait until `M-x atomic-next-attention'.  It needs the program `atomic-lsp' and works beside Eglot and lsp-mode.

;;; Code:

(require 'cl-lib)
(require 'project)
(require 'thingatpt)
(require 'atomic-client)
(require 'atomic-chat)
(require 'atomic-dialog)
(require 'atomic-prompt)
(require 'atomic-lsp-commands)

;;;###autoload
(defgroup atomic nil
  "Work with a coding agent."
  :group 'tools
  :prefix "atomic-")

(defun atomic--root ()
  "The root of the current project."
  (if-let* ((project (project-current)))
      (project-root project)
    default-directory))

(defun atomic--client ()
  "The client of the current buffer."
  (atomic-chat-watch)
  (atomic-dialog-watch)
  (atomic-prompt-watch)
  (or atomic-chat-client atomic-prompt-client
      (atomic-client-for (atomic--root))))

;;;###autoload
(defun atomic ()
  "Open the session of the current project, with a prompt below."
  (interactive)
  (let* ((client (atomic--client))
         (chat (atomic-chat-buffer client))
         (window (or (get-buffer-window chat) (progn (pop-to-buffer chat) (selected-window)))))
    (select-window
     (or (get-buffer-window (atomic-prompt-buffer client))
         (display-buffer (atomic-prompt-buffer client)
                         `((display-buffer-in-direction) (direction . below) (window . ,window)
                           (window-height . 6)))
         window))
    (atomic-client-ensure client (lambda (failure) (when failure (atomic-client-complain failure))))))

;;;; Prompting

;;;###autoload
(defun atomic-prompt (text)
  "Send TEXT to the agent of the current project.
Interactively, read it.  A text that cannot be sent is kept as draft."
  (interactive (list (read-string "Prompt: ")))
  (when (string-blank-p text) (user-error "Nothing is written yet"))
  (let ((client (atomic--client)))
    (atomic-chat-buffer client)
    (atomic-client-intent
     client "prompt" (list :message text)
     :accepted (lambda (failure)
                 (when failure
                   (atomic-prompt-add client text)
                   (atomic-client-complain (format "%s (the text is kept in %s)" failure
                                                   (buffer-name (atomic-prompt-buffer client)))))))))

;;;###autoload
(defun atomic-prompt-region (start end)
  "Put the text from START to END into the prompt, with its place."
  (interactive "r")
  (let* ((client (atomic--client))
         (text (atomic-prompt-quote start end (atomic-client-root client))))
    (atomic-prompt-add client text)
    (atomic)))

;;;###autoload
(defun atomic-prompt-defun ()
  "Put the function at point into the prompt, with its place."
  (interactive)
  (let ((bounds (or (bounds-of-thing-at-point 'defun) (user-error "There is no function at point"))))
    (atomic-prompt-region (car bounds) (cdr bounds))))

;;;###autoload
(defun atomic-prompt-fix-diagnostics ()
  "Put the reports of Flymake on this buffer into the prompt."
  (interactive)
  (let ((client (atomic--client))
        (lines (or (atomic-prompt-diagnostics) (user-error "Flymake says nothing of this buffer"))))
    (atomic-prompt-add client (format "Fix these diagnostics of %s:\n%s\n"
                                      (if buffer-file-name
                                          (file-relative-name buffer-file-name (atomic-client-root client))
                                        (buffer-name))
                                      (string-join lines "\n")))
    (atomic)))

;;;###autoload
(defun atomic-steer (text)
  "Send TEXT to the running agent, before its next step."
  (interactive (list (read-string "Steer: ")))
  (atomic-client-intent (atomic--client) "steer" (list :message text)))

;;;###autoload
(defun atomic-follow-up (text)
  "Queue TEXT for when the agent would stop."
  (interactive (list (read-string "Follow up: ")))
  (atomic-client-intent (atomic--client) "follow_up" (list :message text)))

;;;###autoload
(defun atomic-stop ()
  "Stop what the agent does.  Queued texts come back into the prompt."
  (interactive)
  (atomic-client-intent (atomic--client) "abort" nil))

;;;; Commands

;;;###autoload
(defun atomic-new-session ()
  "Begin a new conversation."
  (interactive)
  (atomic-client-intent (atomic--client) "new_session" nil))

;;;###autoload
(defun atomic-disconnect ()
  "End the language server of the current project; its session stays."
  (interactive)
  (atomic-client-stop (atomic--client)))

(defun atomic--pick (command params key title label take then)
  "Choose from the list that COMMAND with PARAMS has at KEY.
TITLE is the prompt, LABEL makes a label of an item, TAKE parameters of
it, which THEN is called with.  Nothing waits for the list."
  (atomic-client-read
   (atomic--client) command params
   (lambda (failure data)
     (let ((items (append (plist-get data key) nil)))
       (cond (failure (atomic-client-complain failure))
             ((null items) (atomic-client-complain "there is nothing to choose from"))
             ;; After the answer was taken: a process filter is no place to read from the minibuffer.
             (t (run-at-time
                 0 nil
                 (lambda ()
                   (let ((index (with-local-quit
                                  (atomic-dialog--choose
                                   (format "%s: " title) (atomic-dialog--labels (mapcar label items))))))
                     (when index (funcall then (funcall take (nth index items)))))))))))))

(defconst atomic--pickers
  (list
   (list "atomic.setModel" "atomic.getAvailableModels" :models "Model"
         (lambda (model) (format "%s/%s" (plist-get model :provider) (plist-get model :id)))
         (lambda (model) (list :provider (plist-get model :provider) :modelId (plist-get model :id))))
   (list "atomic.setThinkingLevel" "atomic.getAvailableThinkingLevels" :levels "Thinking level"
         #'identity (lambda (level) (list :level level)))
   (list "atomic.switchSession" "atomic.listSessions" :sessions "Session"
         (lambda (session) (format "%s  %s" (or (plist-get session :name) (plist-get session :firstMessage)
                                                (plist-get session :id))
                                   (or (plist-get session :modified) "")))
         (lambda (session) (list :sessionPath (plist-get session :path))))
   (list "atomic.fork" "atomic.getForkMessages" :messages "Fork before"
         (lambda (message) (plist-get message :text))
         (lambda (message) (list :entryId (plist-get message :entryId)))))
  "Commands whose parameters are chosen from a list that another one reads.")

(defun atomic--show-data (command data)
  "Show DATA, the answer to COMMAND."
  (with-current-buffer (get-buffer-create (format "*%s*" command))
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (json-serialize data :null-object nil :false-object :json-false))
      (when (fboundp 'json-pretty-print-buffer) (json-pretty-print-buffer))
      (goto-char (point-min))
      (special-mode))
    (display-buffer (current-buffer))))

(defun atomic--run (command argument)
  "Carry out COMMAND with ARGUMENT, a text, a plist or nil."
  (atomic-client-read
   (atomic--client) command argument
   (lambda (failure data)
     (cond (failure (atomic-client-complain failure))
           ((plist-get data :intent) nil)
           (data (atomic--show-data command data))))))

(defun atomic--read-command ()
  "Let the person choose a command of the server."
  (let* ((titles (mapcar (lambda (row) (cons (plist-get (cdr row) :title) row)) atomic-lsp-commands))
         (completion-extra-properties
          (list :annotation-function
                (lambda (title) (concat "  " (plist-get (cddr (assoc title titles)) :doc))))))
    (cadr (assoc (completing-read "Atomic: " titles nil t) titles))))

;;;###autoload
(defun atomic-command (command)
  "Carry out COMMAND, an LSP command of the server such as \"atomic.compact\".
Interactively, choose it; what it needs is asked for."
  (interactive (list (atomic--read-command)))
  (let ((row (or (cdr (assoc command atomic-lsp-commands)) (user-error "Nobody knows %s" command)))
        (picker (cdr (assoc command atomic--pickers)))
        (client (atomic--client)))
    (cond
     (picker
      (pcase-let ((`(,from ,key ,title ,label ,take) picker))
        (atomic--pick from nil key title label take
                      (lambda (params) (atomic-client-intent client command params)))))
     ((plist-get row :needs)
      (let ((text (read-string (format "%s (text, or JSON of its parameters): " (plist-get row :title)))))
        (atomic--run command (if (string-prefix-p "{" text)
                                 (json-parse-string text :object-type 'plist :null-object nil :false-object :json-false)
                               text))))
     (t (atomic--run command nil)))))

;;;###autoload
(defun atomic-set-model ()
  "Choose the model."
  (interactive)
  (atomic-command "atomic.setModel"))

;;;###autoload
(defun atomic-set-thinking-level ()
  "Choose how much the model thinks."
  (interactive)
  (atomic-command "atomic.setThinkingLevel"))

;;;###autoload
(defun atomic-resume ()
  "Continue an earlier session."
  (interactive)
  (atomic-command "atomic.switchSession"))

;;;###autoload
(defun atomic-fork ()
  "Begin a new session before one of your messages."
  (interactive)
  (atomic-command "atomic.fork"))


(provide 'atomic)
;;; atomic.el ends here

;;; atomic.el --- Work with a coding agent over atomic-lsp  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The atomic-lsp authors

;; Author: The atomic-lsp authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: tools, convenience
;; URL: https://www.npmjs.com/package/atomic-lsp
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `M-x atomic' opens the session of the current project: a transcript, and below it a buffer to write in (C-c C-c sends).
;; Sessions belong to a hub, so other editors can watch the same one, and a closed Emacs stops nothing.  Questions of the
;; agent wait until `M-x atomic-next-attention'.  It needs the program `atomic-lsp' and works beside Eglot and lsp-mode.

;; The layers, each of which knows only those before it: content, session, fold (what a session is); wire, client, intent (how
;; it comes here); entry, markup, tool, question, render, header, chat (how it is shown); answer, dialog; draft, image, complete,
;; prompt, quote; files, hooks; command, sessions, tree, queue, changes, doctor; this file; and menu, loaded when it is opened.

;;; Code:

(require 'cl-lib)
(require 'project)
(require 'thingatpt)
(require 'atomic-changes)
(require 'atomic-chat)
(require 'atomic-client)
(require 'atomic-command)
(require 'atomic-dialog)
(require 'atomic-doctor)
(require 'atomic-files)
(require 'atomic-hooks)
(require 'atomic-intent)
(require 'atomic-prompt)
(require 'atomic-queue)
(require 'atomic-quote)
(require 'atomic-sessions)
(require 'atomic-tree)

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

;;;###autoload
(defun atomic-current-client ()
  "The client of the current buffer: its session, or that of its project.
This and what docs in README call an API may be used by other packages."
  (atomic-chat-watch)
  (atomic-dialog-watch)
  (atomic-prompt-watch)
  (atomic-files-watch)
  (atomic-hooks-watch)
  (or atomic-chat-client atomic-prompt-client (atomic-sessions-current)
      (atomic-client-for (atomic--root))))

(defun atomic-open-client (client)
  "Show the transcript of CLIENT, with a prompt below, and select the prompt."
  (let* ((chat (atomic-chat-buffer client))
         (window (or (get-buffer-window chat) (progn (pop-to-buffer chat) (selected-window)))))
    (select-window
     (or (get-buffer-window (atomic-prompt-buffer client))
         (display-buffer (atomic-prompt-buffer client)
                         `((display-buffer-in-direction) (direction . below) (window . ,window)
                           (window-height . 6)))
         window))
    (atomic-client-ensure client (lambda (failure) (when failure (atomic-client-complain failure))))))

;;;###autoload
(defun atomic ()
  "Open the session of the current project, with a prompt below."
  (interactive)
  (atomic-open-client (atomic-current-client)))

;;;; Prompting

(defun atomic-send (client command text)
  "Send TEXT to CLIENT's session by COMMAND, \"prompt\" for one.
A text that cannot be sent is kept as draft."
  (when (string-blank-p text) (user-error "Nothing is written yet"))
  (let ((keep (lambda (failure)
                (atomic-prompt-add client text)
                (atomic-client-complain (format "%s (the text is kept in %s)" failure
                                                (buffer-name (atomic-prompt-buffer client)))))))
    (atomic-chat-buffer client)
    (atomic-intent
     client command (list :message text)
     :accepted (lambda (failure) (when failure (funcall keep failure)))
     :settled (lambda (fact)
                (unless (equal (plist-get fact :outcome) "done")
                  (funcall keep (or (plist-get fact :error) (plist-get fact :outcome))))))))

;;;###autoload
(defun atomic-prompt (text)
  "Send TEXT to the agent of the current project.
Interactively, read it."
  (interactive (list (read-string "Prompt: ")))
  (atomic-send (atomic-current-client) "prompt" text))

;;;###autoload
(defun atomic-steer (text)
  "Send TEXT to the running agent, before its next step."
  (interactive (list (read-string "Steer: ")))
  (atomic-send (atomic-current-client) "steer" text))

;;;###autoload
(defun atomic-follow-up (text)
  "Queue TEXT for when the agent would stop."
  (interactive (list (read-string "Follow up: ")))
  (atomic-send (atomic-current-client) "follow_up" text))

;;;###autoload
(defun atomic-prompt-region (start end)
  "Put the text from START to END into the prompt, with its place."
  (interactive "r")
  (let ((client (atomic-current-client)))
    (atomic-prompt-add client (atomic-quote-region start end (atomic-client-root client)))
    (deactivate-mark)
    (atomic-open-client client)))

;;;###autoload
(defun atomic-prompt-defun ()
  "Put the function at point into the prompt, with its place."
  (interactive)
  (let ((bounds (or (bounds-of-thing-at-point 'defun) (user-error "There is no function at point"))))
    (atomic-prompt-region (car bounds) (cdr bounds))))

;;;###autoload
(defun atomic-prompt-fix-diagnostics (&optional start end)
  "Put the reports of Flymake and Flycheck on this buffer into the prompt.
With an active region only those from START to END."
  (interactive (when (use-region-p) (list (region-beginning) (region-end))))
  (let* ((client (atomic-current-client))
         (lines (or (atomic-quote-diagnostics start end)
                    (user-error "Neither Flymake nor Flycheck reports anything here")))
         (file (atomic-quote-file (atomic-client-root client))))
    (atomic-prompt-add client (format "Fix these diagnostics of %s:\n%s\n"
                                      (if file (format "`%s`" file) (buffer-name))
                                      (string-join lines "\n")))
    (atomic-open-client client)))

;;;###autoload
(defun atomic-stop ()
  "Stop what the agent does.  Queued texts come back into the prompt."
  (interactive)
  (atomic-intent (atomic-current-client) "abort" nil))

;;;; Commands

;;;###autoload
(defun atomic-command (id)
  "Carry out the command ID of the server, \"atomic.compact\" for one.
Interactively, choose it; what it needs is asked for."
  (interactive (list (atomic-command-read)))
  (atomic-command-call (atomic-current-client) id))

;;;###autoload
(defun atomic-new-session ()
  "Begin a new conversation."
  (interactive)
  (atomic-command "atomic.newSession"))

;;;###autoload
(defun atomic-restart-agent ()
  "End the agent and start it again with the same conversation."
  (interactive)
  (atomic-command "atomic.restartAgent"))

;;;###autoload
(defun atomic-doctor ()
  "Show what is there for the agent and what is not."
  (interactive)
  (atomic-doctor-report (atomic-client-root (atomic-current-client))))

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
(defun atomic-sessions ()
  "List the earlier sessions of the current project."
  (interactive)
  (atomic-sessions-list (atomic-current-client)))

;;;###autoload
(defalias 'atomic-resume #'atomic-sessions)

;;;###autoload
(defun atomic-tree ()
  "Show the branches of the current session."
  (interactive)
  (atomic-tree-list (atomic-current-client)))

;;;###autoload
(defun atomic-fork ()
  "Begin a new session before one of your messages.
Its text comes back into the prompt."
  (interactive)
  (atomic-sessions-fork (atomic-current-client)))

;;;###autoload
(defun atomic-queue ()
  "Take the queue back and edit it."
  (interactive)
  (atomic-queue-edit (atomic-current-client)))

;;;###autoload
(defun atomic-changes ()
  "Show what the agent changed in the current session."
  (interactive)
  (atomic-changes-list (atomic-current-client)))

;;;###autoload
(defun atomic-new-tab (name)
  "Open the session NAME of the current project beside the others.
One of this name that is open anywhere is joined, else it begins."
  (interactive (list (read-string "Name of the other session: ")))
  (when (string-blank-p name) (user-error "Another session needs a name"))
  (atomic-current-client)
  (atomic-open-client (atomic-client-for (if atomic-chat-client (atomic-client-root atomic-chat-client) (atomic--root))
                                         (string-trim name))))

(defun atomic--switch-to (client names)
  "Let the person choose one of NAMES, of CLIENT's folder, or one open here."
  (let* ((root (atomic-client-root client))
         (clients (append (mapcar (lambda (it) (cons (atomic-client-label it) it)) (atomic-client-list))
                          (mapcar (lambda (name)
                                    (let ((it (atomic-client-for root name)))
                                      (cons (atomic-client-label it) it)))
                                  names)))
         (completion-extra-properties
          (list :annotation-function
                (lambda (label) (concat "  " (atomic-header-phase (cdr (assoc label clients))))))))
    (atomic-open-client
     (cdr (assoc (completing-read "Session: " (delete-dups (mapcar #'car clients)) nil t) clients)))))

;;;###autoload
(defun atomic-switch-tab ()
  "Choose one of the sessions that are open, here or in another editor."
  (interactive)
  (let ((client (atomic-current-client)))
    (atomic-sessions-names client (lambda (names)
                                    (run-at-time 0 nil (lambda ()
                                                         (with-local-quit (atomic--switch-to client names))))))))

;;;###autoload
(defun atomic-disconnect ()
  "End the language server of the current session; the session stays."
  (interactive)
  (atomic-client-stop (atomic-current-client)))

(setq atomic-command-own
      '(("atomic.prompt" . atomic) ("atomic.steer" . atomic-steer) ("atomic.followUp" . atomic-follow-up)
        ("atomic.compose" . atomic) ("atomic.open" . atomic) ("atomic.answer" . atomic-next-attention)
        ("atomic.switchSession" . atomic-sessions) ("atomic.listSessions" . atomic-sessions)
        ("atomic.sessions" . atomic-sessions) ("atomic.newTab" . atomic-new-tab)
        ("atomic.attachSession" . atomic-switch-tab) ("atomic.listTabs" . atomic-switch-tab)
        ("atomic.getTree" . atomic-tree) ("atomic.navigateTree" . atomic-tree) ("atomic.fork" . atomic-fork)
        ("atomic.setSessionName" . atomic-rename-session) ("atomic.exportHtml" . atomic-export)
        ("atomic.changes" . atomic-changes) ("atomic.listChanges" . atomic-changes)
        ("atomic.revertFile" . atomic-changes) ("atomic.acceptChanges" . atomic-changes)
        ("atomic.ask" . atomic-prompt-region))
      atomic-sessions-client-function #'atomic-current-client
      atomic-sessions-open-function #'atomic-open-client)

;;;###autoload (autoload 'atomic-menu "atomic-menu" nil t)
(autoload 'atomic-menu "atomic-menu" nil t)
(keymap-set atomic-chat-mode-map "?" #'atomic-menu)
(keymap-set atomic-chat-mode-map "m" #'atomic-menu)
(keymap-set atomic-chat-mode-map "a" #'atomic-next-attention)
(keymap-set atomic-chat-mode-map "i" #'atomic)
(keymap-set atomic-chat-mode-map "d" #'atomic-changes)
(keymap-set atomic-chat-mode-map "s" #'atomic-switch-tab)
(keymap-set atomic-chat-mode-map "C-c C-k" #'atomic-stop)
(keymap-set atomic-prompt-mode-map "C-c C-k" #'atomic-stop)
(keymap-set atomic-prompt-mode-map "C-c C-a" #'atomic-next-attention)
(keymap-set atomic-prompt-mode-map "C-c C-q" #'atomic-queue)
(keymap-set atomic-prompt-mode-map "C-c C-m" #'atomic-menu)

(provide 'atomic)
;;; atomic.el ends here

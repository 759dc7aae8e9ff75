;;; atomic-prompt.el --- Writing to the agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The buffer in which a prompt is written.  Guarantees: a draft is only erased when the hub has taken it; what was typed since then
;; stays; texts that a stop took back from the queue and prompts that were refused come back here.
;; Must not know: how a transcript is shown.

;;; Code:

(require 'cl-lib)
(require 'atomic-complete)
(require 'atomic-content)
(require 'atomic-draft)
(require 'atomic-entry)
(require 'atomic-image)
(require 'atomic-intent)

(defvar-local atomic-prompt-client nil "The client that this buffer writes to.")
(defvar-local atomic-prompt--sending nil "The text that is on its way.")
(defvar-local atomic-prompt--widgets nil "The overlays that show widgets.")

(defvar-keymap atomic-prompt-mode-map
  :doc "Keys of a prompt."
  "C-c C-c" #'atomic-prompt-send
  "C-c C-s" #'atomic-prompt-send-steer
  "C-c C-f" #'atomic-prompt-send-follow-up
  "C-c C-i" #'atomic-image-file
  "C-c C-y" #'atomic-image-paste
  "C-c C-x" #'atomic-image-drop
  "M-p" #'atomic-draft-older
  "M-n" #'atomic-draft-newer
  "M-r" #'atomic-draft-search)

(defun atomic-prompt--header ()
  "The header line of a prompt."
  (concat " " (substitute-command-keys "\\<atomic-prompt-mode-map>\\[atomic-prompt-send] sends · \\[atomic-draft-older] earlier prompts")
          (if-let* ((images (atomic-image-words))) (concat " · " (string-replace "%" "%%" images)) "")))

(define-derived-mode atomic-prompt-mode text-mode "Atomic-Prompt"
  "Major mode of a prompt to the agent."
  (setq header-line-format '(:eval (atomic-prompt--header)))
  (atomic-image-watch)
  (atomic-complete-begin))

(defun atomic-prompt-find-buffer (client)
  "The prompt buffer of CLIENT, or nil."
  (cl-find-if (lambda (buffer) (eq client (buffer-local-value 'atomic-prompt-client buffer))) (buffer-list)))

(defun atomic-prompt--said (client)
  "What the person said in CLIENT's session, oldest first."
  (let (texts)
    (dolist (message (atomic-session-messages (atomic-client-session client)))
      (when (equal (plist-get message :role) "user")
        (push (atomic-content-text (plist-get message :content)) texts)))
    texts))

(defun atomic-prompt--learn (client)
  "Let the buffer of CLIENT's prompt know what was sent earlier in its session.
As they were written where the server knows that, else as the agent got them."
  (let ((learn (lambda (texts)
                 (when-let* ((buffer (atomic-prompt-find-buffer client)))
                   (with-current-buffer buffer (atomic-draft-learn texts))))))
    (if (not (and (atomic-client-ready client) (atomic-client-live-p client)))
        (funcall learn (atomic-prompt--said client))
      (atomic-wire-request
       (atomic-client-connection client) :workspace/executeCommand
       (list :command "atomic.listHistory" :arguments (vector (list :limit (max 1 (min 500 atomic-history-length)))))
       (lambda (failure data)
         (funcall learn (if failure (atomic-prompt--said client)
                          (reverse (mapcar (lambda (prompt) (plist-get prompt :text)) (plist-get data :prompts))))))))))

(defun atomic-prompt-buffer (client)
  "The prompt buffer of CLIENT, made if there is none."
  (or (atomic-prompt-find-buffer client)
      (with-current-buffer (generate-new-buffer (format "*atomic prompt: %s*" (atomic-client-label client)))
        (atomic-prompt-mode)
        (setq atomic-prompt-client client
              atomic-complete-client client
              default-directory (atomic-client-root client))
        (atomic-draft-begin (format "%s\n%s" (atomic-client-root client) (atomic-client-name client)))
        (atomic-prompt--learn client)
        (atomic-prompt--show-widgets client)
        (current-buffer))))

;;;; Sending

(defun atomic-prompt--taken (buffer text)
  "The hub took TEXT: take it out of BUFFER, and keep it in the history."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (atomic-draft-remember text)
      (setq atomic-image-list nil)
      (save-excursion
        (goto-char (point-min))
        (when (equal text (buffer-substring-no-properties
                           (point-min) (min (point-max) (+ (point-min) (length text)))))
          (delete-region (point-min) (+ (point-min) (length text)))
          (when (string-blank-p (buffer-string)) (erase-buffer))))
      (atomic-draft-save))))

(defun atomic-prompt--send (command)
  "Send the text of this buffer by COMMAND."
  (let ((text (buffer-substring-no-properties (point-min) (point-max)))
        (images atomic-image-list)
        (buffer (current-buffer)))
    (when (string-blank-p text)
      (user-error (if images "Write what is to be done with the image" "Nothing is written yet")))
    (when atomic-prompt--sending (user-error "The last prompt is on its way still"))
    (setq atomic-prompt--sending text)
    (atomic-draft-save)
    (atomic-intent
     atomic-prompt-client command (append (list :message (string-trim text)) (atomic-image-params))
     :accepted (lambda (failure)
                 (when (buffer-live-p buffer)
                   (with-current-buffer buffer (setq atomic-prompt--sending nil)))
                 (if failure
                     (atomic-client-complain failure)
                   (atomic-prompt--taken buffer text)))
     :settled (lambda (fact)
                (atomic-intent-settled-default fact)
                (unless (equal (plist-get fact :outcome) "done")
                  (atomic-prompt-give-back buffer text images))))))

(defun atomic-prompt-give-back (buffer text &optional images)
  "Put TEXT and IMAGES, which were not taken, into BUFFER again."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (unless (string-prefix-p text (buffer-string))
        (save-excursion
          (goto-char (point-min))
          (insert text (if (= (point-min) (point-max)) "" "\n\n"))))
      (unless atomic-image-list (setq atomic-image-list images))
      (atomic-draft-save))))

(defun atomic-prompt-send ()
  "Send the prompt.  While the agent works it steers or follows up."
  (interactive nil atomic-prompt-mode)
  (atomic-prompt--send "prompt"))

(defun atomic-prompt-send-steer ()
  "Send the text to the running agent, before its next step."
  (interactive nil atomic-prompt-mode)
  (atomic-prompt--send "steer"))

(defun atomic-prompt-send-follow-up ()
  "Queue the text for when the agent would stop."
  (interactive nil atomic-prompt-mode)
  (atomic-prompt--send "follow_up"))

(defun atomic-prompt-add (client text)
  "Add TEXT to the draft of CLIENT and return its buffer."
  (let ((buffer (atomic-prompt-buffer client)))
    (with-current-buffer buffer
      (goto-char (point-max))
      (unless (or (bobp) (bolp)) (insert "\n"))
      (insert text)
      (atomic-draft-save)
      buffer)))

;;;; What happens

(defun atomic-prompt--widget-text (session placement)
  "The widgets of SESSION that stand at PLACEMENT, as text or nil."
  (let ((lines (cl-loop for (_ widget) on (atomic-session-widgets session) by #'cddr
                        if (and widget (equal placement (or (plist-get widget :placement) "aboveEditor")))
                        append (mapcar (lambda (line) (atomic-entry-clean (format "%s" line)))
                                       (plist-get widget :lines)))))
    (and lines (propertize (string-join lines "\n") 'face 'atomic-note))))

(defun atomic-prompt--show-widgets (client)
  "Show the widgets of extensions around the text of CLIENT's prompt."
  (when-let* ((buffer (atomic-prompt-find-buffer client)))
    (with-current-buffer buffer
      (mapc #'delete-overlay atomic-prompt--widgets)
      (setq atomic-prompt--widgets nil)
      (let* ((session (atomic-client-session client))
             (above (atomic-prompt--widget-text session "aboveEditor"))
             (below (atomic-prompt--widget-text session "belowEditor")))
        (when above
          (let ((overlay (make-overlay (point-min) (point-min) nil nil nil)))
            (overlay-put overlay 'before-string (concat above "\n"))
            (push overlay atomic-prompt--widgets)))
        (when below
          (let ((overlay (make-overlay (point-max) (point-max) nil t t)))
            (overlay-put overlay 'after-string (concat "\n" below))
            (push overlay atomic-prompt--widgets)))))))

(defun atomic-prompt--set-text (client text)
  "Let TEXT of an extension be the draft of CLIENT, unless there is one."
  (with-current-buffer (atomic-prompt-buffer client)
    (if (string-blank-p (buffer-string))
        (progn (erase-buffer) (insert text))
      (unless (string-empty-p text)
        (atomic-draft-remember text)
        (message "Atomic: a text for the prompt waits; M-p shows it")))))

(defun atomic-prompt--update (client what)
  "Take what facts in WHAT of CLIENT say for its prompt."
  (cond
   ((eq what 'reset)
    (when (atomic-prompt-find-buffer client) (atomic-prompt--learn client))
    (atomic-prompt--show-widgets client))
   ((consp what)
    (dolist (fact what)
      (pcase (plist-get fact :type)
        ("queue_returned"
         (when (and (atomic-client-origin client)
                    (equal (plist-get (plist-get fact :origin) :id) (atomic-client-origin client)))
           (seq-do (lambda (text) (atomic-prompt-add client text)) (plist-get fact :texts))))
        ((or "session_replaced" "agent_exited") (atomic-prompt--show-widgets client))
        ("extension_ui_request"
         (pcase (plist-get fact :method)
           ("setWidget" (atomic-prompt--show-widgets client))
           ("set_editor_text" (atomic-prompt--set-text client (format "%s" (or (plist-get fact :text) "")))))))))))

(defun atomic-prompt-watch ()
  "Let the buffers of drafts know what happens."
  (add-hook 'atomic-client-update-functions #'atomic-prompt--update))

(provide 'atomic-prompt)
;;; atomic-prompt.el ends here

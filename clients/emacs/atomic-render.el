;;; atomic-render.el --- A session as text in a buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: the current buffer is changed only at the end of what grows; a run of deltas is one insertion; what was streamed is
;; corrected by the message as it stands.
;; Must not know: windows, processes, commands.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-content)
(require 'atomic-entry)
(require 'atomic-session)

(defvar-local atomic-render--blocks nil "The entries of the message in flight, by the index of their block.")
(defvar-local atomic-render--tools nil "The entries of tool calls, by their id.")
(defvar-local atomic-render--asked nil "Tool calls as they were last shown, by their id.")

;;;; Messages

(defun atomic-render--block-entry (index kind)
  "The entry of the block at INDEX of the message in flight, of KIND."
  (or (gethash index atomic-render--blocks)
      (puthash index
               (if (equal kind "thinking")
                   (atomic-render--append 'thinking "▸ Thinking" 'atomic-thinking "")
                 (atomic-render--append 'text nil nil ""))
               atomic-render--blocks)))

(defun atomic-render--fold-if-wanted (entry)
  "Fold ENTRY, which is complete, if `atomic-folded' has its kind."
  (when (memq (atomic-render-entry-kind entry) atomic-folded)
    (atomic-render-fold entry t)))

(defun atomic-render--block-is (index kind text)
  "Make TEXT the whole text of the block at INDEX, of KIND."
  (unless (string-empty-p text)
    (let ((entry (atomic-render--block-entry index kind))
          (text (string-trim-right (atomic-render-clean text) "\n+")))
      (unless (equal (atomic-render-entry-text entry) text)
        (atomic-render--replace entry (and (equal kind "thinking") "▸ Thinking") 'atomic-thinking text))
      (atomic-render--fold-if-wanted entry))))

(defun atomic-render--assistant (session message)
  "Make the message in flight like MESSAGE of SESSION."
  (let ((index 0)
        (content (plist-get message :content)))
    (when (stringp content)
      (setq content (vector (list :type "text" :text content))))
    (seq-do (lambda (block)
              (pcase (plist-get block :type)
                ("text" (atomic-render--block-is index "text" (or (plist-get block :text) "")))
                ("thinking" (atomic-render--block-is index "thinking" (or (plist-get block :thinking) "")))
                ("toolCall" (atomic-render--tool
                             (or (gethash (plist-get block :id) (atomic-session-tools session))
                                 (list :toolCallId (plist-get block :id) :toolName (plist-get block :name)
                                       :args (plist-get block :arguments) :status "asked")))))
              (cl-incf index))
            content)
    (clrhash atomic-render--blocks)
    (let ((failure (plist-get message :errorMessage)))
      (cond ((equal (plist-get message :stopReason) "aborted") (atomic-render-note "Stopped." 'note))
            ((stringp failure) (atomic-render-note failure 'failure))))))

(defun atomic-render--message (session message)
  "Show MESSAGE of SESSION, which is complete."
  (pcase (plist-get message :role)
    ("assistant" (atomic-render--assistant session message))
    ("user" (atomic-render--append
             'user "You" 'atomic-user
             (atomic-render-clean (atomic-content-text (plist-get message :content)))))
    ("toolResult"
     (let ((id (plist-get message :toolCallId)))
       (unless (gethash id (atomic-session-tools session))
         (atomic-render--tool (list :toolCallId id :toolName (plist-get message :toolName)
                                    :args (plist-get (gethash id atomic-render--asked) :args)
                                    :status (if (atomic-session-true-p (plist-get message :isError)) "failed" "done")
                                    :output "" :result message)))))
    ("bashExecution"
     (let ((entry (atomic-render--append 'tool (concat "▸ $ " (atomic-render-one-line (or (plist-get message :command) "")))
                                         'atomic-tool (atomic-render-clean (or (plist-get message :output) "")))))
       (atomic-render--fold-if-wanted entry)))
    ((or "compactionSummary" "branchSummary")
     (atomic-render-note (concat "Summary of what was before:\n" (or (plist-get message :summary) "")) 'note))
    (_ (unless (eq (plist-get message :display) :json-false)
         (let ((text (atomic-content-text (plist-get message :content))))
           (unless (string-empty-p text)
             (atomic-render-note text 'note)))))))

(defun atomic-render-note (text kind)
  "Show TEXT as an entry of KIND, `note' or `failure'."
  (atomic-render--append kind nil nil (atomic-render-clean text)))

;;;; Tools

(defun atomic-render--argument (args)
  "What stands in ARGS of a tool call, in short."
  (let ((known (cl-loop for key in '(:command :path :file_path :pattern :query :url)
                        for value = (plist-get args key)
                        if (stringp value) return value)))
    (cond (known known)
          ((consp args) (mapconcat (lambda (pair) (format "%s: %s" (substring (symbol-name (car pair)) 1) (cadr pair)))
                                   (seq-partition args 2) ", "))
          (t ""))))

(defun atomic-render--tool-text (tool)
  "The text of TOOL: a diff, else the result, else the tail of the output."
  (let* ((result (plist-get tool :result))
         (diff (plist-get (plist-get result :details) :diff))
         (said (atomic-content-text (plist-get result :content)))
         (done (member (plist-get tool :status) '("done" "failed")))
         (text (cond ((stringp diff) diff)
                     ((string-empty-p said) (or (plist-get tool :output) ""))
                     (t said)))
         (lines (split-string (string-trim-right (atomic-render-clean text) "\n+") "\n"))
         (shown (if done atomic-tool-lines atomic-tool-tail-lines))
         (extra (- (length lines) shown)))
    (when (> extra 0)
      (setq lines (cons (format "… %d lines before" extra) (nthcdr extra lines))))
    (string-join (if (stringp diff) (mapcar #'atomic-render--diff-line lines) lines) "\n")))

(defun atomic-render--diff-line (line)
  "LINE of a diff, in its face."
  (let ((face (pcase (and (> (length line) 0) (aref line 0))
                (?+ 'diff-added)
                (?- 'diff-removed)
                (?@ 'diff-hunk-header))))
    (if face (propertize line 'diff-face face) line)))

(defun atomic-render--tool-head (tool)
  "The head of TOOL."
  (let ((time (plist-get tool :durationMs)))
    (concat "▸ " (or (plist-get tool :toolName) "tool") " "
            (atomic-render-one-line (atomic-render--argument (plist-get tool :args)) 100)
            (pcase (plist-get tool :status)
              ("running" " …") ("done" " ✓") ("failed" " ✗") (_ ""))
            (if (numberp time) (format " %.1f s" (/ time 1000.0)) ""))))

(defun atomic-render--color-diff (entry)
  "Give the lines of a diff in ENTRY their faces."
  (let ((end (marker-position (atomic-render-entry-end entry)))
        (at (marker-position (atomic-render-entry-body entry))))
    (while (< at end)
      (let ((next (next-single-property-change at 'diff-face nil end))
            (face (get-text-property at 'diff-face)))
        (when face (put-text-property at next 'font-lock-face face))
        (setq at next)))))

(defun atomic-render--tool (tool)
  "Show TOOL as it is now."
  (let* ((id (plist-get tool :toolCallId))
         (entry (gethash id atomic-render--tools))
         (done (member (plist-get tool :status) '("done" "failed")))
         (face (if (equal (plist-get tool :status) "failed") 'atomic-failure 'atomic-tool))
         (fresh (null entry))
         (before (plist-get (gethash id atomic-render--asked) :status)))
    (puthash id tool atomic-render--asked)
    (if fresh
        (setq entry (puthash id (atomic-render--append 'tool (atomic-render--tool-head tool) face
                                                       (atomic-render--tool-text tool))
                             atomic-render--tools))
      (atomic-render--replace entry (atomic-render--tool-head tool) face (atomic-render--tool-text tool)))
    (atomic-render--color-diff entry)
    (when (and done (or fresh (not (member before '("done" "failed")))))
      (atomic-render--fold-if-wanted entry))))

;;;; Batches

(defun atomic-render-all (session)
  "Make the current buffer show SESSION."
  (remove-overlays (point-min) (point-max) 'atomic t)
  (erase-buffer)
  (setq atomic-render--blocks (make-hash-table)
        atomic-render--tools (make-hash-table :test #'equal)
        atomic-render--asked (make-hash-table :test #'equal))
  (when (> (atomic-session-older session) 0)
    (atomic-render-note (format "%d older messages are not shown." (atomic-session-older session)) 'note))
  (dolist (message (reverse (atomic-session-messages session)))
    (atomic-render--message session message))
  (cl-loop for block across (or (atomic-session-message session) [])
           for index from 0
           for text = (atomic-content-of-block block)
           unless (or (string-empty-p text) (equal (plist-get block :kind) "toolcall"))
           do (atomic-render--grow (atomic-render--block-entry index (plist-get block :kind))
                                   (atomic-render-clean text)))
  (maphash (lambda (_ tool) (atomic-render--tool tool)) (atomic-session-tools session)))

(defun atomic-render--say (fact)
  "Show FACT if it is one to be told."
  (pcase (plist-get fact :type)
    ("notice" (atomic-render-note (plist-get fact :message)
                                  (if (equal (plist-get fact :level) "error") 'failure 'note)))
    ("extension_error" (atomic-render-note (format "An extension failed: %s" (plist-get fact :error)) 'failure))
    ("agent_exited" (unless (atomic-session-true-p (plist-get fact :expected))
                      (atomic-render-note (or (plist-get fact :message) "The agent ended.") 'failure)))
    ("auto_retry_start" (atomic-render-note (format "Attempt %s of %s: %s" (plist-get fact :attempt)
                                                    (plist-get fact :maxAttempts) (plist-get fact :errorMessage))
                                            'note))
    ("compaction_end" (cond ((stringp (plist-get fact :errorMessage))
                             (atomic-render-note (plist-get fact :errorMessage) 'failure))
                            ((stringp (plist-get (plist-get fact :result) :summary))
                             (atomic-render-note (concat "Summary of what was before:\n"
                                                         (plist-get (plist-get fact :result) :summary))
                                                 'note))))
    ("extension_ui_request" (when (equal (plist-get fact :method) "notify")
                              (atomic-render-note (format "%s" (plist-get fact :message))
                                                  (if (equal (plist-get fact :notifyType) "error") 'failure 'note))))))

(defun atomic-render-facts (session facts)
  "Show in the current buffer what FACTS, already folded, changed in SESSION."
  (let ((pieces nil) (index nil) (kind nil) (tools nil))
    (cl-flet ((flush ()
                (when pieces
                  (atomic-render--grow (atomic-render--block-entry index kind)
                                       (atomic-render-clean (apply #'concat (nreverse pieces))))
                  (setq pieces nil))))
      (dolist (fact facts)
        (let* ((type (plist-get fact :type))
               (event (and (equal type "message_update") (plist-get fact :assistantMessageEvent)))
               (step (plist-get event :type)))
          (cond
           ((member step '("text_delta" "thinking_delta"))
            (unless (eql index (plist-get event :contentIndex))
              (flush)
              (setq index (plist-get event :contentIndex)
                    kind (if (equal step "thinking_delta") "thinking" "text")))
            (push (plist-get event :delta) pieces))
           ((equal step "toolcall_end")
            (flush)
            (let ((call (plist-get event :toolCall)))
              (atomic-render--tool (list :toolCallId (plist-get call :id) :toolName (plist-get call :name)
                                         :args (plist-get call :arguments) :status "asked"))))
           ((equal step "thinking_end")
            (flush)
            (when-let* ((entry (gethash (plist-get event :contentIndex) atomic-render--blocks)))
              (atomic-render--fold-if-wanted entry)))
           (event nil)
           ((member type '("tool_execution_start" "tool_execution_update" "tool_execution_end"))
            (cl-pushnew (plist-get fact :toolCallId) tools :test #'equal))
           ((equal type "session_replaced")
            (setq pieces nil index nil tools nil)
            (atomic-render-all session))
           ((equal type "message_start")
            (flush)
            (setq index nil)
            (when (equal (plist-get (plist-get fact :message) :role) "assistant")
              (clrhash atomic-render--blocks)))
           ((equal type "message_end")
            (flush)
            (setq index nil)
            (atomic-render--message session (plist-get fact :message)))
           (t (flush)
              (atomic-render--say fact)))))
      (flush)
      ;; A tool is shown once a batch, however often it spoke.
      (dolist (id (nreverse tools))
        (when-let* ((tool (gethash id (atomic-session-tools session))))
          (atomic-render--tool tool))))))

(provide 'atomic-render)
;;; atomic-render.el ends here

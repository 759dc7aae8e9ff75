;;; atomic-fold.el --- What facts make of a session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The fold of facts, as docs/protocol.md describes them.  Guarantees: no input, no output, no buffers; a session is changed in
;; place; a fact that is not known changes nothing.
;; Must not know: where facts come from, how they are shown.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-content)
(require 'atomic-session)

(defun atomic-session--update-message (session event)
  "Apply EVENT, one piece of a message in flight, to SESSION."
  (let* ((index (plist-get event :contentIndex))
         (type (or (plist-get event :type) ""))
         (cut (string-search "_" type))
         (kind (and cut (substring type 0 cut)))
         (step (and cut (substring type (1+ cut))))
         (blocks (or (atomic-session-message session) (vector))))
    (when (and (natnump index) (< index 4096) (member kind '("text" "thinking" "toolcall")))
      (while (<= (length blocks) index)
        (setq blocks (vconcat blocks (list (list :kind kind :pieces nil :done nil)))))
      (pcase step
        ("start" (aset blocks index (list :kind kind :pieces nil :id (plist-get event :id)
                                          :toolName (plist-get event :toolName) :done nil)))
        ("delta" (let ((block (aref blocks index)))
                   (plist-put block :pieces (cons (plist-get event :delta) (plist-get block :pieces)))))
        ("end" (let ((block (aref blocks index))
                     (call (plist-get event :toolCall)))
                 (when (stringp (plist-get event :content))
                   (setq block (plist-put block :pieces (list (plist-get event :content)))))
                 (when call
                   (setq block (plist-put block :id (plist-get call :id)))
                   (setq block (plist-put block :toolName (plist-get call :name)))
                   (setq block (plist-put block :arguments (plist-get call :arguments))))
                 (aset blocks index (plist-put block :done t)))))
      (setf (atomic-session-message session) blocks))))

(defun atomic-session--whole (session message)
  "Give MESSAGE, which has ended, the text that SESSION has seen streamed.
Its fact leaves that out; a block that is so stays marked as `:streamed'."
  (when (and (equal (plist-get message :role) "assistant") (vectorp (plist-get message :content)))
    (let ((content (plist-get message :content))
          (flight (or (atomic-session-message session) [])))
      (dotimes (index (length content))
        (let ((block (aref content index)))
          (when (and (consp block) (atomic-session-true-p (plist-get block :streamed)))
            (aset content index
                  (append (list (if (equal (plist-get block :type) "thinking") :thinking :text)
                                (if (< index (length flight)) (atomic-content-of-block (aref flight index)) ""))
                          block))))))))

(defun atomic-session--cut-tools (session)
  "Mark what is unfinished in SESSION as failed."
  (maphash (lambda (id tool)
             (when (and (equal (plist-get tool :status) "running") (not (equal (plist-get tool :toolName) "$")))
               (puthash id (atomic-session--put tool :status "failed") (atomic-session-tools session))))
           (atomic-session-tools session)))

(defun atomic-session--tool (session fact type)
  "Apply FACT of TYPE about a tool to SESSION."
  (let* ((id (plist-get fact :toolCallId))
         (tools (atomic-session-tools session))
         (tool (gethash id tools)))
    (pcase type
      ("tool_execution_start"
       (puthash id (list :toolCallId id :toolName (plist-get fact :toolName) :args (plist-get fact :args)
                         :status "running" :output "" :startedAt (plist-get fact :at))
                tools))
      ("tool_execution_update"
       (when tool
         (let ((output (concat (unless (atomic-session-true-p (plist-get fact :reset)) (plist-get tool :output))
                               (plist-get fact :delta))))
           (when (> (length output) (* 2 atomic-session--tail))
             (setq output (substring output (- atomic-session--tail))))
           (puthash id (plist-put tool :output output) tools))))
      ("tool_execution_end"
       (let ((result (plist-get fact :result)))
         (puthash id (list :toolCallId id
                           :toolName (or (plist-get fact :toolName) (plist-get tool :toolName))
                           :args (plist-get tool :args)
                           :status (if (atomic-session-true-p (plist-get fact :isError)) "failed" "done")
                           :output (or (plist-get tool :output) "")
                           :startedAt (plist-get tool :startedAt)
                           :durationMs (plist-get fact :durationMs)
                           :result result)
                  tools))))))

(defconst atomic-session--shells '("bash" "user_bash") "Commands that run a shell command.")

(defun atomic-session--shell-p (session id)
  "Whether ID is a shell command of SESSION that is not over."
  (let ((tool (gethash id (atomic-session-tools session))))
    (and (equal (plist-get tool :toolName) "$") (equal (plist-get tool :status) "running"))))

(defun atomic-session-shell-id (session fact)
  "The id of the shell command of SESSION that FACT is about.
Older agents do not say whose output it is: the newest command's."
  (or (plist-get fact :intent) (plist-get fact :id)
      (cl-find-if (lambda (id) (atomic-session--shell-p session id))
                  (nreverse (hash-table-keys (atomic-session-tools session))))))

(defun atomic-session--shell (session fact)
  "Apply FACT about a shell command of a person to SESSION.
It is kept like a tool call, with the name \"$\" and the id of its intent."
  (let* ((tools (atomic-session-tools session))
         (id (atomic-session-shell-id session fact))
         (tool (gethash id tools)))
    (pcase (plist-get fact :type)
      ("intent_accepted"
       (puthash id (list :toolCallId id :toolName "$" :args (list :command (or (plist-get fact :text) ""))
                         :status "running" :output "")
                tools))
      ("bash_execution_update"
       (when (equal (plist-get tool :status) "running")
         (let ((output (concat (plist-get tool :output) (plist-get fact :delta))))
           (when (> (length output) (* 2 atomic-session--tail))
             (setq output (substring output (- atomic-session--tail))))
           (plist-put tool :output output))))
      ("intent_settled"
       (when tool
         (let* ((data (plist-get fact :data))
                (output (plist-get data :output))
                (bad (or (not (equal (plist-get fact :outcome) "done"))
                         (not (memq (plist-get data :exitCode) '(nil 0))))))
           (puthash id (append (list :status (if bad "failed" "done")
                                     :result (list :content (if (stringp output) output
                                                              (or (plist-get fact :error) (plist-get tool :output)))))
                               tool)
                    tools)))))))

(defun atomic-session--agent-exited (session fact)
  "Apply FACT to SESSION: all that lived in the agent's process is gone."
  (setf (atomic-session-agent session) (list :status "exited" :identity (plist-get (atomic-session-agent session) :identity)
                                             :exit fact)
        (atomic-session-run session) nil
        (atomic-session-message session) nil
        (atomic-session-compaction session) nil
        (atomic-session-retry session) nil
        (atomic-session-steering session) nil
        (atomic-session-follow-up session) nil
        (atomic-session-statuses session) nil
        (atomic-session-widgets session) nil
        (atomic-session-title session) nil)
  (atomic-session--cut-tools session))

(defun atomic-session--replaced (session fact)
  "Apply FACT to SESSION: the conversation is another one."
  (let* ((state (plist-get fact :state))
         (same (and (plist-get state :sessionId)
                    (equal (plist-get state :sessionId) (plist-get (atomic-session-state session) :sessionId)))))
    (setf (atomic-session-state session) state
          (atomic-session-messages session) nil
          (atomic-session-older session) (or (plist-get fact :olderMessages) 0)
          (atomic-session-usage session) (list :input 0 :output 0 :cacheRead 0 :cacheWrite 0 :cost 0)
          (atomic-session-message session) nil
          (atomic-session-context session) nil
          (atomic-session-files session) nil
          (atomic-session-statuses session) (plist-get fact :statuses)
          (atomic-session-widgets session) (plist-get fact :widgets))
    (clrhash (atomic-session-tools session))
    (unless same
      (setf (atomic-session-title session) (plist-get fact :title)
            (atomic-session-compaction session) nil
            (atomic-session-retry session) nil
            (atomic-session-steering session) nil
            (atomic-session-follow-up session) nil))
    (seq-do (lambda (message) (atomic-session--add-message session message)) (plist-get fact :messages))))

(defun atomic-session--announced (session fact)
  "Apply FACT of an extension, which needs no answer, to SESSION."
  (pcase (plist-get fact :method)
    ("setStatus"
     (let ((text (plist-get fact :statusText))
           (key (intern (format ":%s" (plist-get fact :statusKey)))))
       (setf (atomic-session-statuses session)
             (atomic-session--put (atomic-session-statuses session) key
                                  (and (stringp text) (not (string-empty-p text)) text)))))
    ("setWidget"
     (setf (atomic-session-widgets session)
           (atomic-session--put (atomic-session-widgets session)
                                (intern (format ":%s" (plist-get fact :widgetKey)))
                                (and (plist-get fact :widgetLines) (list :lines (plist-get fact :widgetLines)
                                           :placement (plist-get fact :widgetPlacement))))))
    ("setTitle"
     (let ((title (plist-get fact :title)))
       (setf (atomic-session-title session) (and (stringp title) (not (string-empty-p title)) title))))))

(defun atomic-session--without-dialog (session id)
  "Take the question ID out of SESSION."
  (setf (atomic-session-dialogs session)
        (seq-remove (lambda (dialog) (equal (plist-get dialog :id) id)) (atomic-session-dialogs session))))

(defun atomic-session--set-state (session &rest fields)
  "Set FIELDS, a plist, in the agent's own state as SESSION knows it."
  (cl-loop for (key value) on fields by #'cddr
           do (setf (atomic-session-state session)
                    (atomic-session--put (atomic-session-state session) key value))))

(defun atomic-session-apply (session fact)
  "Change SESSION by one FACT."
  (let ((type (plist-get fact :type)))
    (pcase type
      ("message_update" (atomic-session--update-message session (plist-get fact :assistantMessageEvent)))
      ((or "tool_execution_start" "tool_execution_update" "tool_execution_end")
       (atomic-session--tool session fact type))
      ((and (or "intent_accepted" "intent_settled") (guard (member (plist-get fact :command) atomic-session--shells)))
       (atomic-session--shell session fact))
      ("bash_execution_update" (atomic-session--shell session fact))
      ("message_start" (when (equal (plist-get (plist-get fact :message) :role) "assistant")
                         (setf (atomic-session-message session) (vector))))
      ("message_end" (let ((message (plist-get fact :message)))
                       (atomic-session--whole session message)
                       (atomic-session--add-message session message)
                       (when (equal (plist-get message :role) "assistant")
                         (setf (atomic-session-message session) nil))))
      ("agent_start" (unless (atomic-session-run session)
                       (setf (atomic-session-run session) (list :startedAt (plist-get fact :at) :turns 0))
                       (maphash (lambda (id _) (unless (atomic-session--shell-p session id)
                                                 (remhash id (atomic-session-tools session))))
                                (atomic-session-tools session))))
      ("turn_start" (when-let* ((run (atomic-session-run session)))
                      (setf (atomic-session-run session)
                            (atomic-session--put run :turns (1+ (or (plist-get run :turns) 0))))))
      ("agent_settled" (setf (atomic-session-last-run session) (plist-get fact :outcome)
                             (atomic-session-run session) nil
                             (atomic-session-message session) nil
                             (atomic-session-retry session) nil)
       (atomic-session--cut-tools session))
      ("agent_started" (setf (atomic-session-agent session)
                             (list :status "running" :identity (plist-get fact :agent) :pid (plist-get fact :pid))))
      ("agent_exited" (atomic-session--agent-exited session fact))
      ("state_changed"
       (apply #'atomic-session--set-state session (plist-get fact :state))
       (cl-loop for name across (or (plist-get fact :removed) [])
                do (atomic-session--set-state session (intern (concat ":" name)) nil)))
      ("session_replaced" (atomic-session--replaced session fact))
      ("session_info_changed" (atomic-session--set-state session :sessionName (plist-get fact :name)))
      ("thinking_level_changed" (atomic-session--set-state session :thinkingLevel (plist-get fact :level)))
      ("model_changed" (atomic-session--set-state session :model (plist-get fact :model)))
      ("context_window_changed" (atomic-session--set-state session :contextWindow (plist-get fact :contextWindow)))
      ("queue_update" (setf (atomic-session-steering session) (append (plist-get fact :steering) nil)
                            (atomic-session-follow-up session) (append (plist-get fact :followUp) nil)))
      ("compaction_start" (setf (atomic-session-compaction session) (list :reason (plist-get fact :reason))))
      ("compaction_end" (setf (atomic-session-compaction session) nil
                              (atomic-session-context session) nil)
       (let ((summary (plist-get (plist-get fact :result) :summary)))
         (when (stringp summary)
           (atomic-session--add-message session (list :role "compactionSummary" :summary summary)))))
      ("auto_retry_start" (setf (atomic-session-retry session) fact))
      ("auto_retry_end" (setf (atomic-session-retry session) nil))
      ("extension_ui_request" (atomic-session--announced session fact))
      ("dialog_opened" (let ((dialog (plist-get fact :dialog)))
                         (atomic-session--without-dialog session (plist-get dialog :id))
                         (setf (atomic-session-dialogs session)
                               (append (atomic-session-dialogs session) (list dialog)))))
      ("dialog_offered" (setf (atomic-session-dialogs session)
                              (mapcar (lambda (dialog)
                                        (if (equal (plist-get dialog :id) (plist-get fact :id))
                                            (append dialog '(:offered t))
                                          dialog))
                                      (atomic-session-dialogs session))))
      ("dialog_settled" (atomic-session--without-dialog session (plist-get fact :id)))
      ("file_touched" (let ((path (plist-get fact :path)))
                        (setf (atomic-session-files session)
                              (append (remove path (atomic-session-files session)) (list path))))))))

(provide 'atomic-fold)
;;; atomic-fold.el ends here

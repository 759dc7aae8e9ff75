;;; atomic-render.el --- A session as text in a buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: the current buffer is changed only at the end of what grows; a run of deltas is one insertion; what was streamed is
;; corrected by the message as it stands, and what was streamed exactly so is neither copied nor compared.
;; Must not know: windows, processes, commands.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-content)
(require 'atomic-entry)
(require 'atomic-markup)
(require 'atomic-fold)
(require 'atomic-session)
(require 'atomic-question)
(require 'atomic-tool)

(defvar-local atomic-render--blocks nil "The entries of the message in flight, by the index of their block.")

;;;; Messages

(defun atomic-render--block-entry (index kind)
  "The entry of the block at INDEX of the message in flight, of KIND."
  (or (gethash index atomic-render--blocks)
      (puthash index
               (if (equal kind "thinking")
                   (atomic-entry-append 'thinking "▸ Thinking" 'atomic-thinking "")
                 (atomic-entry-append 'text nil nil ""))
               atomic-render--blocks)))

(defun atomic-render--trimmed (text)
  "TEXT without the newlines at its end."
  (let ((end (length text)))
    (while (and (> end 0) (eq (aref text (1- end)) ?\n)) (cl-decf end))
    (if (= end (length text)) text (substring text 0 end))))

(defun atomic-render--stands-p (entry text)
  "Whether ENTRY, into which TEXT was streamed piece by piece, is that text.
Its newlines at the end are taken away."
  (let ((size (- (atomic-entry-end entry) (atomic-entry-body entry))))
    ;; Escapes may have been cut by the pieces.
    (when (and (= size (length text)) (eq text (atomic-entry-clean text)))
      (save-excursion
        (goto-char (atomic-entry-end entry))
        (skip-chars-backward "\n" (atomic-entry-body entry))
        (delete-region (point) (atomic-entry-end entry)))
      t)))

(defun atomic-render--block-is (index kind text streamed)
  "Make TEXT the whole text of the block at INDEX, of KIND.
STREAMED says that its pieces, which have come, are this very text."
  (unless (string-empty-p text)
    (let ((entry (atomic-render--block-entry index kind)))
      (unless (and streamed (atomic-render--stands-p entry text))
        (let ((text (atomic-render--trimmed (atomic-entry-clean text))))
          (unless (and (= (length text) (- (atomic-entry-end entry) (atomic-entry-body entry)))
                       (equal (atomic-entry-text entry) text))
            (atomic-entry-replace entry (and (equal kind "thinking") "▸ Thinking") 'atomic-thinking text))))
      (if (equal kind "thinking")
          (atomic-entry-fold-if-wanted entry)
        (atomic-markup-complete (atomic-entry-body entry) (atomic-entry-end entry))
        (atomic-markup-places (atomic-entry-body entry) (atomic-entry-end entry))
        (atomic-markup-addresses (atomic-entry-body entry) (atomic-entry-end entry))))))

(defun atomic-render--assistant (session message)
  "Make the message in flight like MESSAGE of SESSION."
  (let ((index 0)
        (content (plist-get message :content)))
    (when (stringp content)
      (setq content (vector (list :type "text" :text content))))
    (seq-do (lambda (block)
              (pcase (plist-get block :type)
                ((and kind (or "text" "thinking"))
                 (atomic-render--block-is index kind
                                          (or (plist-get block (if (equal kind "text") :text :thinking)) "")
                                          (plist-get block :streamed)))
                ("toolCall" (atomic-tool-show
                             (or (gethash (plist-get block :id) (atomic-session-tools session))
                                 (list :toolCallId (plist-get block :id) :toolName (plist-get block :name)
                                       :args (plist-get block :arguments) :status "asked")))))
              (cl-incf index))
            content)
    (clrhash atomic-render--blocks)
    (let ((failure (plist-get message :errorMessage)))
      (cond ((equal (plist-get message :stopReason) "aborted") (atomic-entry-note "Stopped." 'note))
            ((stringp failure) (atomic-entry-note failure 'failure))))))

(defun atomic-render--message (session message)
  "Show MESSAGE of SESSION, which is complete."
  (pcase (plist-get message :role)
    ("assistant" (atomic-render--assistant session message))
    ("user"
     (let ((entry (atomic-entry-append 'user "You" 'atomic-user
                                       (atomic-entry-clean (atomic-content-text (plist-get message :content))))))
       (atomic-markup-places (atomic-entry-body entry) (atomic-entry-end entry))))
    ("toolResult"
     (let ((id (plist-get message :toolCallId)))
       (unless (gethash id (atomic-session-tools session))
         (atomic-tool-show (list :toolCallId id :toolName (plist-get message :toolName)
                                    :args (atomic-tool-arguments id)
                                    :status (if (atomic-session-true-p (plist-get message :isError)) "failed" "done")
                                    :output "" :result message)))))
    ("bashExecution"
     (let ((entry (atomic-entry-append 'tool (concat "▸ $ " (atomic-entry-one-line (or (plist-get message :command) "")))
                                         'atomic-tool (atomic-entry-clean (or (plist-get message :output) "")))))
       (atomic-entry-fold-if-wanted entry)))
    ((or "compactionSummary" "branchSummary")
     (atomic-entry-note (concat "Summary of what was before:\n" (or (plist-get message :summary) "")) 'note))
    (_ (unless (eq (plist-get message :display) :json-false)
         (let ((text (atomic-content-text (plist-get message :content))))
           (unless (string-empty-p text)
             (atomic-entry-note text 'note)))))))

;;;; Batches

(defun atomic-render-all (session)
  "Make the current buffer show SESSION."
  (erase-buffer)
  (setq atomic-render--blocks (make-hash-table))
  (atomic-question-forget)
  (atomic-tool-forget)
  (when (> (atomic-session-older session) 0)
    (atomic-entry-note (format "%d older messages are not shown." (atomic-session-older session)) 'note))
  (dolist (message (reverse (atomic-session-messages session)))
    (atomic-render--message session message))
  (cl-loop for block across (or (atomic-session-message session) [])
           for index from 0
           for text = (atomic-content-of-block block)
           unless (or (string-empty-p text) (equal (plist-get block :kind) "toolcall"))
           do (atomic-entry-grow (atomic-render--block-entry index (plist-get block :kind))
                                   (atomic-entry-clean text)))
  (maphash (lambda (_ tool) (atomic-tool-show tool)) (atomic-session-tools session))
  (mapc #'atomic-question-show (atomic-session-dialogs session)))

(defun atomic-render--say (fact)
  "Show FACT if it is one to be told."
  (pcase (plist-get fact :type)
    ("dialog_opened" (atomic-question-show (plist-get fact :dialog)))
    ("dialog_settled" (atomic-question-settled fact))
    ("notice" (atomic-entry-note (plist-get fact :message)
                                  (if (equal (plist-get fact :level) "error") 'failure 'note)))
    ("extension_error" (atomic-entry-note (format "An extension failed: %s" (plist-get fact :error)) 'failure))
    ("agent_exited" (unless (atomic-session-true-p (plist-get fact :expected))
                      (atomic-entry-note (or (plist-get fact :message) "The agent ended.") 'failure)))
    ("auto_retry_start" (atomic-entry-note (format "Attempt %s of %s: %s" (plist-get fact :attempt)
                                                    (plist-get fact :maxAttempts) (plist-get fact :errorMessage))
                                            'note))
    ("compaction_end" (cond ((stringp (plist-get fact :errorMessage))
                             (atomic-entry-note (plist-get fact :errorMessage) 'failure))
                            ((stringp (plist-get (plist-get fact :result) :summary))
                             (atomic-entry-note (concat "Summary of what was before:\n"
                                                         (plist-get (plist-get fact :result) :summary))
                                                 'note))))
    ("extension_ui_request"
     (pcase (plist-get fact :method)
       ("notify" (atomic-entry-note (format "%s" (plist-get fact :message))
                                    (if (equal (plist-get fact :notifyType) "error") 'failure 'note)))
       ((pred (string-prefix-p "oauth_")) (atomic-render--login fact))))))

(defun atomic-render--login (fact)
  "Show FACT, a step of a login, with its addresses as buttons."
  (let ((said (cl-loop for key in '(:message :instructions :userCode :verificationUri :url)
                       for text = (plist-get fact key)
                       if (and (stringp text) (not (string-empty-p text))) collect text)))
    (when said
      (let ((entry (atomic-entry-note (concat "Login: " (string-join said "\n")) 'note)))
        (atomic-markup-addresses (atomic-entry-body entry) (atomic-entry-end entry))))))

(defun atomic-render-facts (session facts)
  "Show in the current buffer what FACTS, already folded, changed in SESSION."
  (let ((pieces nil) (index nil) (kind nil) (tools nil))
    (cl-flet ((flush ()
                (when pieces
                  (atomic-entry-grow (atomic-render--block-entry index kind)
                                       (atomic-entry-clean (apply #'concat (nreverse pieces))))
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
              (atomic-tool-show (list :toolCallId (plist-get call :id) :toolName (plist-get call :name)
                                         :args (plist-get call :arguments) :status "asked"))))
           ((equal step "thinking_end")
            (flush)
            (when-let* ((entry (gethash (plist-get event :contentIndex) atomic-render--blocks)))
              (atomic-entry-fold-if-wanted entry)))
           (event nil)
           ((member type '("tool_execution_start" "tool_execution_update" "tool_execution_end"))
            (cl-pushnew (plist-get fact :toolCallId) tools :test #'equal))
           ((or (equal type "bash_execution_update")
                (and (member type '("intent_accepted" "intent_settled"))
                     (member (plist-get fact :command) '("bash" "user_bash"))))
            (flush)
            (cl-pushnew (atomic-session-shell-id session fact) tools :test #'equal))
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
          (atomic-tool-show tool))))))

(provide 'atomic-render)
;;; atomic-render.el ends here

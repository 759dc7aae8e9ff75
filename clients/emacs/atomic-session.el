;;; atomic-session.el --- What a session looks like after its facts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A session and its beginning, a snapshot as docs/protocol.md describes it.  Guarantees: no input, no output, no buffers; bounded.
;; JSON objects are plists, arrays vectors, null is nil, false is :json-false.
;; Must not know: how facts change it (atomic-fold), how it is shown.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-content)

(cl-defstruct (atomic-session (:constructor atomic-session-create) (:copier nil))
  "A session as it is after the facts so far."
  name epoch seq
  (agent (list :status "absent"))
  state
  messages                              ; newest first
  (older 0)
  message                               ; in flight: vector of blocks (:kind :pieces :id :toolName :done), or nil
  (tools (make-hash-table :test #'equal))
  run last-run steering follow-up compaction retry statuses widgets title
  dialogs                               ; oldest first
  files
  context                               ; tokens of the last call of the model, or nil
  (usage (list :input 0 :output 0 :cacheRead 0 :cacheWrite 0 :cost 0)))

(defconst atomic-session--kept 400
  "How many messages are kept.")

(defconst atomic-session--tail 65536
  "How many characters of a tool's live output are kept.")

(defun atomic-session-true-p (value)
  "Whether VALUE from JSON is true."
  (and value (not (eq value :json-false))))

(defun atomic-session--put (plist key value)
  "PLIST with VALUE at KEY, as a new list."
  (plist-put (copy-sequence plist) key value))

(defun atomic-session-begin (name epoch seq snapshot)
  "A session of NAME at SEQ in EPOCH, according to SNAPSHOT."
  (let ((session (atomic-session-create
                  :name name :epoch epoch :seq seq
                  :agent (plist-get snapshot :agent)
                  :state (plist-get snapshot :state)
                  :messages (nreverse (append (plist-get snapshot :messages) nil))
                  :older (or (plist-get snapshot :olderMessages) 0)
                  :run (plist-get snapshot :run)
                  :last-run (plist-get snapshot :lastRun)
                  :steering (append (plist-get (plist-get snapshot :queue) :steering) nil)
                  :follow-up (append (plist-get (plist-get snapshot :queue) :followUp) nil)
                  :compaction (plist-get snapshot :compaction)
                  :retry (plist-get snapshot :retry)
                  :statuses (plist-get snapshot :statuses)
                  :widgets (plist-get snapshot :widgets)
                  :title (plist-get snapshot :title)
                  :dialogs (append (plist-get snapshot :dialogs) nil)
                  :files (append (plist-get snapshot :files) nil)
                  :usage (or (plist-get snapshot :usage)
                             (list :input 0 :output 0 :cacheRead 0 :cacheWrite 0 :cost 0)))))
    (cl-loop for (_ tool) on (plist-get snapshot :tools) by #'cddr
             do (puthash (plist-get tool :toolCallId) tool (atomic-session-tools session)))
    (cl-loop for (_ shell) on (plist-get snapshot :bash) by #'cddr
             do (puthash (plist-get shell :id)
                         (list :toolCallId (plist-get shell :id) :toolName "$" :status "running"
                               :args (list :command (or (plist-get shell :command) ""))
                               :output (or (plist-get shell :output) ""))
                         (atomic-session-tools session)))
    (when-let* ((message (plist-get snapshot :message)))
      (setf (atomic-session-message session)
            (vconcat (mapcar (lambda (block)
                               (plist-put (copy-sequence block) :pieces (list (or (plist-get block :text) ""))))
                             (plist-get message :blocks)))))
    (when-let* ((last (seq-find (lambda (message) (plist-get message :usage)) (atomic-session-messages session))))
      (setf (atomic-session-context session) (atomic-session--size (plist-get last :usage))))
    session))

(defun atomic-session--size (usage)
  "How many tokens of the context USAGE, of one message, stands for, or nil."
  (let ((sum (cl-loop for key in '(:input :output :cacheRead :cacheWrite)
                      for amount = (plist-get usage key)
                      if (numberp amount) sum amount)))
    (and (> sum 0) sum)))

(defun atomic-session--add-message (session message)
  "Add MESSAGE to SESSION, with what it used."
  (push message (atomic-session-messages session))
  (when-let* ((used (plist-get message :usage)))
    (setf (atomic-session-context session) (atomic-session--size used))
    (let ((sum (copy-sequence (atomic-session-usage session))))
      (dolist (key '(:input :output :cacheRead :cacheWrite))
        (let ((amount (plist-get used key)))
          (when (numberp amount)
            (setq sum (plist-put sum key (+ amount (or (plist-get sum key) 0)))))))
      (let ((cost (plist-get (plist-get used :cost) :total)))
        (when (numberp cost)
          (setq sum (plist-put sum :cost (+ cost (or (plist-get sum :cost) 0))))))
      (setf (atomic-session-usage session) sum)))
  (when (> (length (atomic-session-messages session)) (* 2 atomic-session--kept))
    (cl-incf (atomic-session-older session) atomic-session--kept)
    (setf (atomic-session-messages session) (seq-take (atomic-session-messages session) atomic-session--kept))))

(defun atomic-session-phase (session)
  "What SESSION is doing, in one word for a person."
  (let ((blocks (atomic-session-message session)))
    (cond ((atomic-session-compaction session) "compacting")
          ((and (atomic-session-retry session) (not blocks)) "retrying")
          ((not (atomic-session-run session)) "idle")
          ((cl-loop for tool being the hash-values of (atomic-session-tools session)
                    thereis (equal (plist-get tool :status) "running"))
           "tool")
          ((not blocks) "waiting")
          ((and (> (length blocks) 0)
                (equal (plist-get (aref blocks (1- (length blocks))) :kind) "thinking"))
           "thinking")
          (t "writing"))))

(defun atomic-session-percent (session)
  "How much of the context window SESSION fills, in per cent, or nil."
  (let* ((state (atomic-session-state session))
         (window (or (plist-get state :contextWindow) (plist-get (plist-get state :model) :contextWindow)))
         (used (atomic-session-context session)))
    (and (numberp window) (> window 0) used
         (round (/ (* 100.0 used) window)))))

(provide 'atomic-session)
;;; atomic-session.el ends here

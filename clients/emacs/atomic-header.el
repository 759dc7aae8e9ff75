;;; atomic-header.el --- A session in one line  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The header line of a transcript and constructs for the mode line.  Guarantees: text of the agent cannot be taken for a construct.
;; Must not know: buffers, windows.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-client)
(require 'atomic-entry)

(defun atomic-header-tokens (count)
  "COUNT of tokens, for a person."
  (cond ((not (numberp count)) "0")
        ((>= count 1000000) (format "%.1fM" (/ count 1000000.0)))
        ((>= count 1000) (format "%.1fk" (/ count 1000.0)))
        (t (number-to-string count))))

(defun atomic-header--model (session)
  "The model of SESSION."
  (let ((model (plist-get (atomic-session-state session) :model)))
    (atomic-entry-one-line
     (format "%s" (or (plist-get model :name) (plist-get model :id)
                      (plist-get (plist-get (atomic-session-agent session) :identity) :name)
                      "atomic")))))

(defun atomic-header--context (session)
  "How full the context of SESSION is, or nil."
  (when-let* ((percent (atomic-session-percent session)))
    (propertize (format "%d%%" percent) 'face (cond ((>= percent 90) 'error) ((>= percent 70) 'warning))
                'help-echo "How full the context window is")))

(defun atomic-header-statuses (session)
  "What extensions say in the status line of SESSION."
  (cl-loop for (_ text) on (atomic-session-statuses session) by #'cddr
           if (stringp text) collect (atomic-entry-one-line text)))

(defun atomic-header-phase (client)
  "What CLIENT's session is doing, in a word or two."
  (let ((session (atomic-client-session client)))
    (cond ((not (atomic-client-live-p client)) "not connected")
          ((equal (plist-get (atomic-session-agent session) :status) "exited") "agent ended")
          (t (atomic-session-phase session)))))

(defun atomic-header-text (client)
  "What CLIENT's session is and does, in one line."
  (let* ((session (atomic-client-session client))
         (usage (atomic-session-usage session))
         (thinking (plist-get (atomic-session-state session) :thinkingLevel))
         (queued (+ (length (atomic-session-steering session)) (length (atomic-session-follow-up session))))
         (questions (+ (length (atomic-session-dialogs session)) (length (atomic-client-questions client)))))
    (string-join
     (delq nil
           (append
            (list (and (> questions 0)
                       (propertize (format "⚑ %d" questions) 'face 'warning
                                   'help-echo "Questions of the agent: M-x atomic-next-attention"))
                  (propertize (atomic-header--model session) 'face 'bold)
                  (and (stringp thinking) (not (equal thinking "off")) (format "thinks %s" thinking))
                  (atomic-header-phase client)
                  (and (atomic-session-title session) (atomic-entry-one-line (atomic-session-title session) 40))
                  (and (numberp (plist-get usage :input)) (> (+ (plist-get usage :input) (plist-get usage :output)) 0)
                       (format "↑%s ↓%s" (atomic-header-tokens (plist-get usage :input))
                               (atomic-header-tokens (plist-get usage :output))))
                  (atomic-header--context session)
                  (and (>= (or (plist-get usage :cost) 0) 0.0005) (format "$%.3f" (plist-get usage :cost)))
                  (and (> queued 0) (propertize (format "%d queued" queued) 'help-echo "M-x atomic-queue")))
            (atomic-header-statuses session)))
     " · ")))

(defun atomic-header-line (client)
  "The header line of CLIENT's transcript."
  (concat " " (string-replace "%" "%%" (atomic-header-text client))))

;;;; For the mode line

(defun atomic-mode-line ()
  "What the session of the current buffer's project is doing, or nothing.
For use in `mode-line-format' as (:eval (atomic-mode-line)); costs a look
into a table."
  (let ((client (cl-find-if (lambda (client)
                              (and (atomic-client-live-p client)
                                   (string-prefix-p (atomic-client-root client) default-directory)))
                            (atomic-client-list))))
    (if client
        (format " atomic:%s" (string-replace "%" "%%" (string-join
                                                       (cons (atomic-header-phase client)
                                                             (atomic-header-statuses (atomic-client-session client)))
                                                       " ")))
      "")))

(provide 'atomic-header)
;;; atomic-header.el ends here

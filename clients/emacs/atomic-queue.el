;;; atomic-queue.el --- What waits to be said  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer to edit the queue.  Guarantees: the queue is taken back before it is edited, so that nothing is sent meanwhile; what was
;; in it is queued again, or is in the prompt, however the buffer ends.
;; Must not know: transcripts.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-intent)
(require 'atomic-prompt)

(defvar-local atomic-queue--client nil "The client whose queue this is.")
(defvar-local atomic-queue--taken nil "What was taken, pairs of a command and a text, until it is queued again.")

(defconst atomic-queue--heads '(("steer" . "── before the next step ──") ("follow_up" . "── when it would stop ──"))
  "The lines before texts that steer or follow up.")

(defvar-keymap atomic-queue-mode-map
  :doc "Keys of the queue."
  "C-c C-c" #'atomic-queue-send
  "C-c C-k" #'atomic-queue-restore
  "C-c C-t" #'atomic-queue-take-back)

(define-derived-mode atomic-queue-mode text-mode "Atomic-Queue"
  "Major mode of the texts that wait for the agent."
  (setq header-line-format
        (substitute-command-keys
         " \\[atomic-queue-send] queues this · \\[atomic-queue-restore] as it was · \\[atomic-queue-take-back] into the prompt"))
  (add-hook 'kill-buffer-hook #'atomic-queue--rescue nil t))

(defun atomic-queue--insert (texts)
  "Insert TEXTS, pairs of a command and a text, each after its line."
  (pcase-dolist (`(,command . ,text) texts)
    (insert (propertize (cdr (assoc command atomic-queue--heads)) 'face 'bold 'atomic-queue command
                        'read-only t 'front-sticky t 'rear-nonsticky t)
            "\n" text "\n\n")))

(defun atomic-queue--read ()
  "The texts in this buffer, pairs of a command and a text."
  (save-excursion
    (goto-char (point-min))
    (let (texts)
      (while (not (eobp))
        (let ((command (get-text-property (point) 'atomic-queue)))
          (if (not command)
              (forward-line 1)
            (forward-line 1)
            (let* ((from (point))
                   (to (or (next-single-property-change from 'atomic-queue) (point-max)))
                   (text (string-trim (buffer-substring-no-properties from to))))
              (unless (string-empty-p text) (push (cons command text) texts))
              (goto-char to)))))
      (nreverse texts))))

(defun atomic-queue--put (client texts)
  "Queue TEXTS, pairs of a command and a text, in CLIENT's session.
What is not taken is in the prompt."
  (pcase-dolist (`(,command . ,text) texts)
    (let ((keep (lambda (failure)
                  (when failure
                    (atomic-prompt-add client text)
                    (atomic-client-complain failure)))))
      (atomic-intent client command (list :message text)
                     :accepted keep
                     :settled (lambda (fact)
                                (unless (equal (plist-get fact :outcome) "done")
                                  (funcall keep (or (plist-get fact :error) (plist-get fact :outcome)))))))))

(defun atomic-queue--rescue ()
  "Put what was not queued again into the prompt."
  (pcase-dolist (`(,_ . ,text) (prog1 atomic-queue--taken (setq atomic-queue--taken nil)))
    (atomic-prompt-add atomic-queue--client (concat text "\n"))))

(defun atomic-queue--end (texts)
  "Queue TEXTS and kill this buffer."
  (setq atomic-queue--taken nil)
  (atomic-queue--put atomic-queue--client texts)
  (quit-window t))

(defun atomic-queue-send ()
  "Queue the texts of this buffer."
  (interactive nil atomic-queue-mode)
  (atomic-queue--end (atomic-queue--read)))

(defun atomic-queue-restore ()
  "Queue what was queued before."
  (interactive nil atomic-queue-mode)
  (atomic-queue--end atomic-queue--taken))

(defun atomic-queue-take-back ()
  "Put the texts of this buffer into the prompt."
  (interactive nil atomic-queue-mode)
  (let ((client atomic-queue--client)
        (texts (atomic-queue--read)))
    (atomic-queue--end nil)
    (pcase-dolist (`(,_ . ,text) texts)
      (atomic-prompt-add client (concat text "\n")))))

(defun atomic-queue-edit (client)
  "Take the queue of CLIENT's session back and open it for editing."
  (let ((session (atomic-client-session client)))
    (unless (or (atomic-session-steering session) (atomic-session-follow-up session))
      (user-error "Nothing is queued"))
    (atomic-intent
     client "clear_queue" nil
     :settled
     (lambda (fact)
       (let* ((data (plist-get fact :data))
              (texts (append (mapcar (lambda (text) (cons "steer" text)) (append (plist-get data :steering) nil))
                             (mapcar (lambda (text) (cons "follow_up" text)) (append (plist-get data :followUp) nil)))))
         (cond ((not (equal (plist-get fact :outcome) "done")) (atomic-intent-settled-default fact))
               ((null texts) (atomic-client-complain "the queue was delivered already"))
               (t (with-current-buffer (generate-new-buffer "*atomic queue*")
                    (atomic-queue-mode)
                    (setq atomic-queue--client client
                          atomic-queue--taken texts)
                    (atomic-queue--insert texts)
                    (goto-char (point-min))
                    (forward-line 1)
                    (pop-to-buffer (current-buffer))))))))))

(provide 'atomic-queue)
;;; atomic-queue.el ends here

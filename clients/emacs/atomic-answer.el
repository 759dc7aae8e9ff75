;;; atomic-answer.el --- Answers that are written in a buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: a text that the agent asks for is sent by C-c C-c and refused by C-c C-k alone; burying or killing its buffer
;; postpones; what was written for a question that is over is in the kill ring.
;; Must not know: the minibuffer, transcripts.

;;; Code:

(require 'cl-lib)
(require 'atomic-entry)
(require 'atomic-intent)

(defvar-local atomic-answer--client nil "The client of the question in this buffer.")
(defvar-local atomic-answer--dialog nil "The question in this buffer.")

(defvar-keymap atomic-answer-mode-map
  :doc "Keys of a text that the agent asks for."
  "C-c C-c" #'atomic-answer-send
  "C-c C-k" #'atomic-answer-refuse)

(define-derived-mode atomic-answer-mode text-mode "Atomic-Answer"
  "Major mode of a text that the agent asks for.")

(defun atomic-answer-title (dialog)
  "What DIALOG asks, in one line."
  (string-join (seq-remove #'string-empty-p
                           (list (atomic-entry-one-line (or (plist-get dialog :title) ""))
                                 (atomic-entry-one-line (or (plist-get dialog :message) ""))))
               " — "))

(defun atomic-answer-buffer (id)
  "The buffer in which the question ID is answered, or nil."
  (cl-find-if (lambda (buffer)
                (equal id (plist-get (buffer-local-value 'atomic-answer--dialog buffer) :id)))
              (seq-filter (lambda (buffer) (buffer-local-value 'atomic-answer--dialog buffer)) (buffer-list))))

(defun atomic-answer-open (client)
  "The ids of questions of CLIENT that are answered in a buffer."
  (cl-loop for buffer in (buffer-list)
           for dialog = (buffer-local-value 'atomic-answer--dialog buffer)
           if (and dialog (eq client (buffer-local-value 'atomic-answer--client buffer)))
           collect (plist-get dialog :id)))

(defun atomic-answer-edit (client dialog)
  "Open a buffer for the answer to DIALOG of CLIENT."
  (pop-to-buffer
   (or (atomic-answer-buffer (plist-get dialog :id))
       (with-current-buffer (generate-new-buffer "*atomic answer*")
         (atomic-answer-mode)
         (insert (or (plist-get dialog :prefill) ""))
         (set-buffer-modified-p nil)
         (goto-char (point-min))
         (setq atomic-answer--client client
               atomic-answer--dialog dialog
               header-line-format
               (concat " " (string-replace "%" "%%" (atomic-answer-title dialog))
                       (substitute-command-keys
                        " · \\[atomic-answer-send] answers · \\[atomic-answer-refuse] refuses · bury it to postpone")))
         (current-buffer)))))

(defun atomic-answer-send ()
  "Answer the question of this buffer with its text."
  (interactive nil atomic-answer-mode)
  (let ((buffer (current-buffer))
        (dialog (or atomic-answer--dialog (user-error "The question is over"))))
    (atomic-intent-answer
     atomic-answer--client dialog
     (list :value (buffer-substring-no-properties (point-min) (point-max)))
     (lambda (failure)
       (cond (failure (atomic-client-complain failure))
             ((buffer-live-p buffer)
              (with-current-buffer buffer (setq atomic-answer--dialog nil))
              (atomic-answer--bury buffer)))))))

(defun atomic-answer-refuse ()
  "Refuse to answer the question of this buffer."
  (interactive nil atomic-answer-mode)
  (atomic-intent-answer atomic-answer--client (or atomic-answer--dialog (user-error "The question is over"))
                        (list :cancelled t)))

(defun atomic-answer--bury (buffer)
  "Take BUFFER away, with its window if it was made for it."
  (let ((window (get-buffer-window buffer t)))
    (if window (quit-window t window) (kill-buffer buffer))))

(defun atomic-answer-close (id)
  "Close the buffer of the question ID, which is over, if there is one."
  (when-let* ((buffer (atomic-answer-buffer id)))
    (with-current-buffer buffer
      (setq atomic-answer--dialog nil)
      (when (buffer-modified-p)
        (kill-new (buffer-substring-no-properties (point-min) (point-max)))
        (message "Atomic: the question is over; the text is in the kill ring")))
    (atomic-answer--bury buffer)))

(provide 'atomic-answer)
;;; atomic-answer.el ends here

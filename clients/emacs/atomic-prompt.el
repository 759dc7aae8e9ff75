;;; atomic-prompt.el --- Writing to the agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The buffer in which a prompt is written.  Guarantees: a draft is only erased when the hub has taken it; what was typed since then
;; stays; texts that a stop took back from the queue come back here.
;; Must not know: how a transcript is shown.

;;; Code:

(require 'cl-lib)
(require 'ring)
(require 'flymake)
(require 'atomic-client)

(defvar-local atomic-prompt-client nil "The client that this buffer writes to.")
(defvar-local atomic-prompt--history nil "A ring of what was sent.")
(defvar-local atomic-prompt--place nil "Where in the history the text is, or nil.")
(defvar-local atomic-prompt--draft nil "The draft that was there before the history was looked at.")
(defvar-local atomic-prompt--sending nil "The text that is on its way.")

(defvar-keymap atomic-prompt-mode-map
  :doc "Keys of a prompt."
  "C-c C-c" #'atomic-prompt-send
  "C-c C-s" #'atomic-prompt-send-steer
  "C-c C-f" #'atomic-prompt-send-follow-up
  "M-p" #'atomic-prompt-older
  "M-n" #'atomic-prompt-newer)

(define-derived-mode atomic-prompt-mode text-mode "Atomic-Prompt"
  "Major mode of a prompt to the agent."
  (setq atomic-prompt--history (make-ring 100))
  (setq header-line-format
        (substitute-command-keys " \\[atomic-prompt-send] sends · \\[atomic-prompt-older] earlier prompts")))

(defun atomic-prompt-find-buffer (client)
  "The prompt buffer of CLIENT, or nil."
  (cl-find-if (lambda (buffer) (eq client (buffer-local-value 'atomic-prompt-client buffer))) (buffer-list)))

(defun atomic-prompt-buffer (client)
  "The prompt buffer of CLIENT, made if there is none."
  (or (atomic-prompt-find-buffer client)
      (with-current-buffer (generate-new-buffer
                            (format "*atomic prompt: %s*"
                                    (abbreviate-file-name (directory-file-name (atomic-client-root client)))))
        (atomic-prompt-mode)
        (setq atomic-prompt-client client
              default-directory (atomic-client-root client))
        (current-buffer))))

(defun atomic-prompt--taken (buffer text)
  "The hub took TEXT: take it out of BUFFER, and keep it in the history."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (ring-insert atomic-prompt--history text)
      (setq atomic-prompt--place nil)
      (save-excursion
        (goto-char (point-min))
        (when (equal text (buffer-substring-no-properties
                           (point-min) (min (point-max) (+ (point-min) (length text)))))
          (delete-region (point-min) (+ (point-min) (length text)))
          (when (string-blank-p (buffer-string)) (erase-buffer)))))))

(defun atomic-prompt--send (command)
  "Send the text of this buffer by COMMAND."
  (let ((text (buffer-substring-no-properties (point-min) (point-max)))
        (buffer (current-buffer)))
    (when (string-blank-p text) (user-error "Nothing is written yet"))
    (when atomic-prompt--sending (user-error "The last prompt is on its way still"))
    (setq atomic-prompt--sending text)
    (atomic-client-intent
     atomic-prompt-client command (list :message (string-trim text))
     :accepted (lambda (failure)
                 (when (buffer-live-p buffer)
                   (with-current-buffer buffer (setq atomic-prompt--sending nil)))
                 (if failure
                     (atomic-client-complain failure)
                   (atomic-prompt--taken buffer text)))
     :settled (lambda (fact)
                (atomic-client-settled-default fact)
                (unless (equal (plist-get fact :outcome) "done")
                  (atomic-prompt-give-back buffer text))))))

(defun atomic-prompt-give-back (buffer text)
  "Put TEXT, which was not carried out, into BUFFER again."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (unless (string-prefix-p text (buffer-string))
        (save-excursion
          (goto-char (point-min))
          (insert text (if (= (point-min) (point-max)) "" "\n\n")))))))

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

(defun atomic-prompt--go (place)
  "Show the prompt at PLACE of the history, or the draft if it is nil."
  (unless atomic-prompt--place (setq atomic-prompt--draft (buffer-string)))
  (setq atomic-prompt--place place)
  (erase-buffer)
  (insert (if place (ring-ref atomic-prompt--history place) (or atomic-prompt--draft ""))))

(defun atomic-prompt-older ()
  "Show the prompt that was sent before this one."
  (interactive nil atomic-prompt-mode)
  (let ((place (if atomic-prompt--place (1+ atomic-prompt--place) 0)))
    (if (>= place (ring-length atomic-prompt--history))
        (user-error "There is no earlier prompt")
      (atomic-prompt--go place))))

(defun atomic-prompt-newer ()
  "Show the prompt that was sent after this one, at last the draft."
  (interactive nil atomic-prompt-mode)
  (unless atomic-prompt--place (user-error "This is the draft"))
  (atomic-prompt--go (and (> atomic-prompt--place 0) (1- atomic-prompt--place))))

(defun atomic-prompt-add (client text)
  "Add TEXT to the draft of CLIENT and return its buffer."
  (let ((buffer (atomic-prompt-buffer client)))
    (with-current-buffer buffer
      (goto-char (point-max))
      (unless (or (bobp) (bolp)) (insert "\n"))
      (insert text)
      buffer)))

(defun atomic-prompt-quote (start end root)
  "The text from START to END as a fenced block, with its place under ROOT."
  (let* ((text (string-trim-right (buffer-substring-no-properties start end) "\n+"))
         (fence "```"))
    (while (string-search fence text) (setq fence (concat fence "`")))
    (concat (if buffer-file-name
                (format "%s:%d-%d\n"
                        (file-relative-name buffer-file-name root)
                        (line-number-at-pos start t)
                        (line-number-at-pos (max start (1- end)) t))
              "")
            fence "\n" text "\n" fence "\n")))

(defun atomic-prompt-diagnostics ()
  "Reports of Flymake on this buffer, one line each, or nil."
  (when (bound-and-true-p flymake-mode)
    (mapcar (lambda (it)
              (format "line %d: %s" (line-number-at-pos (flymake-diagnostic-beg it) t) (flymake-diagnostic-text it)))
            (flymake-diagnostics))))

(defun atomic-prompt--update (client what)
  "Take what facts in WHAT of CLIENT say for its prompt."
  (when (consp what)
    (dolist (fact what)
      (pcase (plist-get fact :type)
        ("queue_returned"
         (when (and (atomic-client-origin client)
                    (equal (plist-get (plist-get fact :origin) :id) (atomic-client-origin client)))
           (seq-do (lambda (text) (atomic-prompt-add client text)) (plist-get fact :texts))))
        ("extension_ui_request"
         (when (equal (plist-get fact :method) "set_editor_text")
           (with-current-buffer (atomic-prompt-buffer client)
             ;; A draft of the person is never overwritten.
             (when (string-blank-p (buffer-string))
               (erase-buffer)
               (insert (format "%s" (or (plist-get fact :text) "")))))))))))

(defun atomic-prompt-watch ()
  "Let the buffers of drafts know what happens."
  (add-hook 'atomic-client-update-functions #'atomic-prompt--update))

(provide 'atomic-prompt)
;;; atomic-prompt.el ends here

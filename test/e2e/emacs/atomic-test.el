;;; atomic-test.el --- What the tests of the Emacs package share  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Commentary:

;; Guarantees that each test has a project of its own, whose path has a space and a letter beyond ASCII in it, and that no client,
;; process, buffer or timer of it is left.  What the model answers follows from the prompt: test/e2e/emacs-ert.test.ts.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'atomic)

(setq atomic-server-command (append (json-parse-string (getenv "ATOMIC_TEST_SERVER") :array-type 'list) nil)
      atomic-draft-directory nil)

(defvar atomic-test-settings
  (json-parse-string (getenv "ATOMIC_TEST_SETTINGS") :object-type 'plist :false-object :json-false)
  "Settings with an agent of the tests.")

(defun atomic-test-wait (what condition)
  "Return what CONDITION gives, as soon as it is not nil; WHAT it stands for.
What it waits for are the events that Emacs gets."
  (let ((until (time-add nil 60)) value)
    (while (not (setq value (funcall condition)))
      (when (time-less-p until nil)
        (error "%s did not come; the transcripts are %S" what
               (mapcar (lambda (client)
                         (let ((buffer (atomic-chat-find-buffer client)))
                           (and buffer (with-current-buffer buffer (buffer-string)))))
                       (atomic-client-list))))
      (accept-process-output nil 0.02))
    value))

(defmacro atomic-test-until (&rest condition)
  "Wait until CONDITION is true."
  `(atomic-test-wait ,(format "%S" condition) (lambda () ,@condition)))

(defun atomic-test-clean ()
  "End all clients and kill their buffers."
  (dolist (client (atomic-client-list))
    (atomic-client-stop client)
    (atomic-test-wait "the end of a server" (lambda () (not (atomic-client-live-p client)))))
  (clrhash atomic-client--all)
  (dolist (buffer (buffer-list))
    ;; One that was killed may have taken another with it.
    (when (and (buffer-live-p buffer) (string-match-p "atomic[ :.]" (buffer-name buffer)))
      (with-current-buffer buffer (set-buffer-modified-p nil))
      (let ((kill-buffer-query-functions nil)) (kill-buffer buffer)))))

(defmacro atomic-test-project (&rest body)
  "Evaluate BODY in a new project, as `root', with a file a.txt."
  (declare (indent 0) (debug t))
  `(let* ((root (file-name-as-directory (make-temp-file "at ömic" t)))
          (default-directory root)
          (project-find-functions (list (lambda (_) (cons 'transient root))))
          (atomic-settings atomic-test-settings)
          (inhibit-message noninteractive)
          (client (atomic-current-client)))
     (ignore client)
     (unwind-protect
         (save-window-excursion
           (write-region "one\ntwo\nthree\n" nil (expand-file-name "a.txt" root) nil 'silent)
           ,@body)
       (atomic-test-clean)
       (dolist (buffer (buffer-list))
         (when (and (buffer-file-name buffer) (string-prefix-p root (buffer-file-name buffer)))
           (with-current-buffer buffer (set-buffer-modified-p nil))
           (kill-buffer buffer)))
       (delete-directory root t))))

(defun atomic-test-chat (client)
  "The text of CLIENT's transcript."
  (with-current-buffer (atomic-chat-buffer client)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun atomic-test-shows (client text)
  "Wait until CLIENT's transcript has TEXT."
  (atomic-test-wait text (lambda () (string-search text (atomic-test-chat client)))))

(defun atomic-test-say (client text)
  "Send TEXT to CLIENT and wait for the end of the run."
  (let* ((ended 0)
         (count (lambda (&rest _) (cl-incf ended))))
    (add-hook 'atomic-run-finished-functions count)
    (unwind-protect
        (progn (atomic-send client "prompt" text)
               (atomic-test-wait (format "the end of %s" text) (lambda () (> ended 0))))
      (remove-hook 'atomic-run-finished-functions count))))

(defun atomic-test-idle (client)
  "Wait until CLIENT is idle."
  (atomic-test-wait "idleness" (lambda () (equal (atomic-session-phase (atomic-client-session client)) "idle"))))

(defun atomic-test-prompt (client)
  "The text of CLIENT's prompt."
  (with-current-buffer (atomic-prompt-buffer client)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun atomic-test-face-p (text face)
  "Whether TEXT has FACE where it stands in the current buffer."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (let ((found (ensure-list (or (get-text-property (match-beginning 0) 'face)
                                  (get-text-property (match-beginning 0) 'font-lock-face)))))
      (memq face found))))

(provide 'atomic-test)
;;; atomic-test.el ends here

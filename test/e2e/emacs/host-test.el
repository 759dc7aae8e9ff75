;;; host-test.el --- The Emacs package and other hosts  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)
(require 'tramp)

(defmacro atomic-test-host (&rest body)
  "Evaluate BODY in a project that is visited as if it were on another host, as `remote'."
  (declare (indent 0) (debug t))
  `(let ((tramp-methods (cons '("mock" (tramp-login-program "sh") (tramp-login-args (("-i")))
                                (tramp-remote-shell "/bin/sh") (tramp-remote-shell-args ("-c"))
                                (tramp-connection-timeout 10))
                              tramp-methods))
         (tramp-default-host-alist (cons '("\\`mock\\'" nil "elsewhere") tramp-default-host-alist))
         ;; It is this host after all, which a method without a network must be told.
         (tramp-local-host-regexp "\\`elsewhere\\'")
         (tramp-persistency-file-name nil)
         (tramp-verbose 1)
         (folder (file-name-as-directory (make-temp-file "at ömic" t)))
         (atomic-settings atomic-test-settings)
         (inhibit-message noninteractive))
     (unwind-protect
         (save-window-excursion
           (let* ((remote (concat "/mock:elsewhere:" folder))
                  (default-directory remote)
                  (project-find-functions (list (lambda (_) (cons 'transient remote)))))
             ,@body))
       (atomic-test-clean)
       (tramp-cleanup-all-connections)
       (delete-directory folder t))))

(ert-deftest atomic-host-runs-the-agent-there ()
  ;; A screen adds nothing.
  (skip-unless noninteractive)
  (atomic-test-host
    (let ((client (atomic-current-client)))
      (should (file-remote-p (atomic-client-root client)))
      (write-region "one\n" nil (concat folder "größe.txt") nil 'silent)
      (should (equal (with-current-buffer (find-file-noselect (concat remote "größe.txt")) (buffer-string)) "one\n"))
      (atomic-test-say client "bash pwd")
      (should (string-search (directory-file-name folder) (atomic-test-chat client)))
      (atomic-test-say client "edit größe.txt one ünö")
      (with-current-buffer (find-buffer-visiting (concat remote "größe.txt"))
        (atomic-test-until (equal (buffer-string) "ünö\n"))
        (kill-buffer))
      (with-current-buffer (atomic-chat-buffer client)
        (goto-char (point-min))
        (search-forward "▸ edit ")
        (should (equal (button-get (button-at (point)) 'atomic-file) (concat remote "größe.txt")))))))

(ert-deftest atomic-host-without-the-server-says-so ()
  (skip-unless noninteractive)
  (atomic-test-host
    (let ((atomic-server-command '("no-such-program-at-all"))
          (client (atomic-current-client))
          said)
      (atomic-client-ensure client (lambda (failure) (setq said failure)))
      (should (string-search "no-such-program-at-all is not on elsewhere, where the agent would run: install it there"
                             said)))))

(provide 'host-test)
;;; host-test.el ends here

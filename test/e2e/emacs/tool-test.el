;;; tool-test.el --- Tool calls in a transcript, code in a prompt  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)

(ert-deftest atomic-tool-shows-the-tail-while-it-runs-and-a-diff-in-its-faces ()
  (with-temp-buffer
    (atomic-chat-mode)
    (let ((inhibit-read-only t)
          (lines (mapconcat (lambda (i) (format "line %d." i)) (number-sequence 1 30) "\n")))
      (atomic-render-all (atomic-session-create))
      (atomic-tool-show (list :toolCallId "a" :toolName "bash" :args '(:command "make") :status "running" :output lines))
      (should (string-search "▸ bash make …" (buffer-string)))
      (should (string-search "line 30." (buffer-string)))
      (should-not (string-search "line 20." (buffer-string)))
      (atomic-tool-show '(:toolCallId "b" :toolName "edit" :args (:path "a.txt") :status "done"
                          :result (:details (:diff "@@ -1 +1 @@\n-one\n+eins"))))
      (should (atomic-test-face-p "-one" 'diff-removed))
      (should (atomic-test-face-p "+eins" 'diff-added))
      (search-backward "-one")
      (should (invisible-p (point)))
      (atomic-chat-toggle-all)
      (atomic-chat-toggle-all)
      (atomic-chat-toggle)
      (should-not (invisible-p (point))))))

(ert-deftest atomic-quote-puts-code-into-the-prompt-by-a-command ()
  (atomic-test-project
    (write-region "(defun f ()\n  1)\n\n(defun g ()\n  2)\n" nil "x.el" nil 'silent)
    (cl-letf (((symbol-function 'atomic-open-client) #'ignore)
              ((symbol-function 'atomic-quote-diagnostics) (lambda (&rest _) '("line 1: wrong"))))
      (with-current-buffer (find-file-noselect "x.el")
        (goto-char (point-max))
        (forward-line -1)
        (atomic-prompt-defun)
        (atomic-prompt-region (point-min) (line-end-position -2))
        (atomic-prompt-fix-diagnostics)))
    (let ((said (atomic-test-prompt client)))
      (should (string-search "`x.el:4-5`" said))
      (should (string-search "(defun g" said))
      (should (string-search "(defun f" said))
      (should (string-search "Fix these diagnostics of `x.el`:\nline 1: wrong\n" said)))))

(provide 'tool-test)
;;; tool-test.el ends here

;;; changes-test.el --- What the agent changed, on the real agent  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)

(defmacro atomic-test-changes (client &rest body)
  "Evaluate BODY in the list of what CLIENT's agent changed, once it is there."
  (declare (indent 1) (debug t))
  `(progn
     (atomic-changes-list ,client)
     (with-current-buffer (format "*atomic changes: %s*" (atomic-client-label ,client))
       (atomic-test-until (> (buffer-size) 0))
       ,@body)))

(ert-deftest atomic-changes-are-taken-back-by-hunk-and-by-file ()
  (atomic-test-project
    (let ((lines (lambda (&rest changed)
                   (mapconcat (lambda (i) (format "%s\r\n" (alist-get i changed (format "line %d" i))))
                              (number-sequence 1 40) ""))))
      (let ((coding-system-for-write 'utf-8-unix))
        (write-region (funcall lines) nil "b ü.txt" nil 'silent))
      (atomic-test-say client "change |b ü.txt|line 3\r|LINE 3\r")
      (atomic-test-say client "change |b ü.txt|line 38\r|LINE 38\r")
      (atomic-test-say client "edit a.txt two zwei")
      (atomic-test-changes client
        (should (string-match-p "^modified b ü.txt  \\+2 −2$" (buffer-string)))
        (should (string-match-p "^modified a.txt  \\+1 −1$" (buffer-string)))
        (should (string-search "\n-line 38\n+LINE 38\n" (buffer-string)))
        (goto-char (point-min))
        (search-forward "+LINE 38")
        ;; With unsaved changes in it a file is left alone.
        (with-current-buffer (find-file-noselect "b ü.txt")
          (goto-char (point-max))
          (insert "mine"))
        (should-error (atomic-changes-revert) :type 'user-error)
        (with-current-buffer (find-buffer-visiting "b ü.txt")
          (set-buffer-modified-p nil)
          (revert-buffer t t))
        (atomic-changes-ediff)
        (with-current-buffer "*b ü.txt before*"
          (should (equal (buffer-string) (string-replace "\r" "" (funcall lines)))))
        (with-current-buffer "*Ediff Control Panel*"
          (let ((this-command 'ediff-quit)) (ediff-really-quit nil)))
        (should-not (get-buffer "*b ü.txt before*"))
        (atomic-changes-revert)
        (atomic-test-until (not (string-search "LINE 38" (buffer-string))))
        (should (string-search "+LINE 3" (buffer-string)))
        (should (equal (with-temp-buffer (insert-file-contents-literally "b ü.txt") (buffer-string))
                       (funcall lines '(3 . "LINE 3"))))
        (atomic-test-until (not (string-search "LINE 38" (with-current-buffer (find-buffer-visiting "b ü.txt")
                                                           (buffer-string)))))
        (goto-char (point-min))
        (search-forward "a.txt")
        (cl-letf (((symbol-function 'y-or-n-p) #'always)) (atomic-changes-revert-file))
        (atomic-test-until (not (string-search "a.txt" (buffer-string))))
        (should (equal (with-temp-buffer (insert-file-contents "a.txt") (buffer-string)) "one\ntwo\nthree\n"))
        (goto-char (point-min))
        (search-forward "b ü.txt")
        (atomic-changes-accept)
        (atomic-test-until (string-search "has changed no file" (buffer-string)))))))

(ert-deftest atomic-history-of-the-session-comes-back-as-it-was-written ()
  (atomic-test-project
    (atomic-test-say client "say the first of @a.txt")
    (atomic-test-say client "say the second")
    (kill-buffer (atomic-prompt-buffer client))
    (with-current-buffer (atomic-prompt-buffer client)
      (atomic-test-until (= 2 (ring-length atomic-draft--history)))
      (atomic-draft-older)
      (should (equal (buffer-string) "say the second"))
      (atomic-draft-older)
      (should (equal (buffer-string) "say the first of @a.txt")))))

(ert-deftest atomic-sessions-of-the-folder-are-known ()
  (atomic-test-project
    (atomic-test-say client "say begin")
    (atomic-new-tab "review")
    (let ((names 'unknown)
          (other (cl-find "review" (atomic-client-list) :key #'atomic-client-name :test #'equal)))
      (should other)
      (atomic-test-say other "say in the other")
      (should-not (string-search "in the other" (atomic-test-chat client)))
      (atomic-sessions-names other (lambda (found) (setq names found)))
      (atomic-test-until (listp names))
      (should (equal names '("review"))))))

(provide 'changes-test)
;;; changes-test.el ends here

;;; complete-test.el --- Completion in a prompt  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)

(ert-deftest atomic-complete-counts-as-the-server-does ()
  (with-temp-buffer
    (insert "😀 @ünï")
    (should (equal (atomic-complete--position) '(:line 0 :character 7)))
    (should (= (atomic-complete--point '(:line 0 :character 3)) 3))
    (should (= (atomic-complete--start) 3))
    (should (equal (atomic-complete--text '(:label "x" :textEdit (:range (:start (:line 0 :character 4)) :newText "ünïform")) 3)
                   "@ünïform"))
    (erase-buffer)
    (insert "/model fa")
    (should (= (atomic-complete--start) 8))
    (erase-buffer)
    (insert "see @\"a b")
    (should (= (atomic-complete--start) 5))
    (erase-buffer)
    (insert "plain text")
    (should-not (atomic-complete--start))))

(ert-deftest atomic-complete-offers-what-the-server-says ()
  (atomic-test-project
    (with-current-buffer (atomic-prompt-buffer client)
      (insert "see @src/m")
      (let (asked)
        (setf (atomic-client-ready client) t
              (atomic-client-connection client) 'fake)
        (cl-letf (((symbol-function 'atomic-wire-live-p) (lambda (connection) (eq connection 'fake)))
                  ((symbol-function 'atomic-wire-notify) (lambda (_ method params) (push (list method params) asked)))
                  ((symbol-function 'atomic-wire-wait)
                   (lambda (_ method params _seconds)
                     (push (list method params) asked)
                     '(:isIncomplete t :items [(:label "main.ts" :detail "3 kB"
                                                :textEdit (:range (:start (:line 0 :character 4) :end (:line 0 :character 10))
                                                           :newText "@src/main.ts"))]))))
          (pcase-let ((`(,start ,end ,table . ,plist) (atomic-complete-at-point)))
            (should (equal (buffer-substring start end) "@src/m"))
            (should (equal (all-completions "@src/m" table) '("@src/main.ts")))
            (should (equal (funcall (plist-get plist :annotation-function) "@src/main.ts") "  3 kB")))
          (completion-at-point)
          (should (equal (buffer-string) "see @src/main.ts"))
          (let ((open (alist-get :textDocument/didOpen asked)))
            (should (equal (plist-get (plist-get (car open) :textDocument) :languageId) "atomic-prompt"))
            (should (equal (plist-get (plist-get (car open) :textDocument) :text) "see @src/m")))
          (atomic-complete--sync)
          (should (equal (caar asked) :textDocument/didChange))
          (kill-buffer)
          (should (equal (caar asked) :textDocument/didClose)))
        (setf (atomic-client-connection client) nil)))))

(ert-deftest atomic-complete-knows-commands-and-files ()
  (atomic-test-project
    (write-region "" nil "ein name.txt" nil 'silent)
    (atomic-test-say client "say begin")
    (with-current-buffer (atomic-prompt-buffer client)
      (insert "/ask-sel")
      (completion-at-point)
      (should (string-prefix-p "/ask-select" (buffer-string)))
      (erase-buffer)
      (insert "see @a.t")
      (completion-at-point)
      (should (string-prefix-p "see @a.txt" (buffer-string)))
      (erase-buffer)
      (insert "see @\"ein")
      (completion-at-point)
      (should (string-prefix-p "see @\"ein name.txt" (buffer-string))))))

(provide 'complete-test)
;;; complete-test.el ends here

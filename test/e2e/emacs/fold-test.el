;;; fold-test.el --- What the Emacs package knows of a session  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)

(ert-deftest atomic-session-puts-back-what-was-streamed ()
  (let ((session (atomic-session-create))
        (delta (lambda (type index text)
                 (list :type "message_update"
                       :assistantMessageEvent (list :type type :contentIndex index :delta text)))))
    (dolist (fact (list '(:type "message_start" :message (:role "assistant" :content []))
                        (funcall delta "thinking_delta" 0 "Hm")
                        (funcall delta "text_delta" 1 "One ")
                        (funcall delta "text_delta" 1 "two")
                        (funcall delta "text_delta" 2 "cut")
                        (list :type "message_end"
                              :message (list :role "assistant" :stopReason "stop"
                                             :content (vector (list :type "thinking" :streamed t :thinkingSignature "s")
                                                              (list :type "text" :streamed t)
                                                              (list :type "text" :text "uncut"))))))
      (atomic-session-apply session fact))
    (should (equal (plist-get (car (atomic-session-messages session)) :content)
                   [(:thinking "Hm" :type "thinking" :thinkingSignature "s")
                    (:text "One two" :type "text")
                    (:type "text" :text "uncut")]))))

(provide 'fold-test)
;;; fold-test.el ends here

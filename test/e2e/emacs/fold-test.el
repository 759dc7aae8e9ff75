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
                   [(:thinking "Hm" :type "thinking" :streamed t :thinkingSignature "s")
                    (:text "One two" :type "text" :streamed t)
                    (:type "text" :text "uncut")]))))

;; What the end of a message makes of a transcript, whether its text comes again or not.
(ert-deftest atomic-session-streamed-shows-what-a-message-read-anew-does ()
  (dolist (pieces '(("One " "two\n" "\n") ("Red: \e[3" "1mred\e[0m.") ("Plain.") ("\n" "\n")))
    (let ((session (atomic-session-create))
          (text (string-join pieces)))
      (with-temp-buffer
        (atomic-chat-mode)
        (let ((inhibit-read-only t)
              (tell (lambda (fact)
                      (atomic-session-apply session fact)
                      (atomic-render-facts session (list fact)))))
          (atomic-render-all session)
          (funcall tell '(:type "message_start" :message (:role "assistant" :content [])))
          (dolist (piece pieces)
            (funcall tell (list :type "message_update"
                                :assistantMessageEvent (list :type "text_delta" :contentIndex 0 :delta piece))))
          (funcall tell (list :type "message_end"
                              :message (list :role "assistant" :content (vector (list :type "text" :streamed t)))))
          (should (equal (atomic-content-text (plist-get (car (atomic-session-messages session)) :content)) text))
          (let ((streamed (buffer-string)))
            (atomic-render-all session)
            (should (equal (buffer-string) streamed))))))))

(provide 'fold-test)
;;; fold-test.el ends here

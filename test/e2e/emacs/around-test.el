;;; around-test.el --- The Emacs package on a real agent: what is around a run  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)

;;;; Files

(ert-deftest atomic-files-are-read-again-with-point-and-undo ()
  (atomic-test-project
    (write-region (mapconcat (lambda (i) (format "line%d" i)) (number-sequence 1 50) "\n") nil "b.txt" nil 'silent)
    (with-current-buffer (find-file-noselect "b.txt")
      (buffer-enable-undo)
      (goto-char (point-min))
      (search-forward "line30")
      (let ((place (copy-marker (point))))
        (atomic-test-say client "edit b.txt line10 LINE-10")
        (atomic-test-until (string-search "LINE-10" (buffer-string)))
        (should-not (buffer-modified-p))
        (should (looking-back "line30" (line-beginning-position)))
        (should (= place (point)))
        (should (verify-visited-file-modtime)))
      (undo-boundary)
      (undo)
      (should (string-search "line10\n" (buffer-string))))))

(ert-deftest atomic-files-with-unsaved-changes-are-protected-and-named ()
  (atomic-test-project
    (with-current-buffer (find-file-noselect "a.txt")
      (goto-char (point-max))
      (insert "mine")
      (atomic-test-say client "bash echo theirs > a.txt")
      (should (equal (buffer-string) "one\ntwo\nthree\nmine"))
      (should (buffer-modified-p))
      (with-current-buffer (messages-buffer)
        (goto-char (point-max))
        (should (search-backward "the agent changed a.txt, which has unsaved changes here" nil t))))))

;;;; Extensions

(ert-deftest atomic-extension-shows-what-it-wants ()
  (atomic-test-project
    (atomic-send client "prompt" "/say")
    (atomic-test-shows client "a notification: error")
    (let ((prompt (atomic-prompt-buffer client)))
      (with-current-buffer (atomic-chat-buffer client)
        (should (string-search "green status" header-line-format))
        (should (string-search "A title" header-line-format)))
      (should (string-search "green status" (atomic-mode-line)))
      (with-current-buffer prompt
        (should (equal (buffer-string) "text for the prompt"))
        (should (string-search "one\ntwo" (format "%s" (mapcar (lambda (overlay) (overlay-get overlay 'after-string))
                                                               atomic-prompt--widgets)))))
      (with-current-buffer "*Warnings*"
        (should (string-search "a notification: error" (buffer-string))))
      (kill-buffer "*Warnings*")
      (atomic-send client "prompt" "/say clear")
      (atomic-test-until (not (buffer-local-value 'atomic-prompt--widgets prompt)))
      (atomic-test-until (not (string-search "green" (buffer-local-value 'header-line-format (atomic-chat-buffer client)))))
      (atomic-test-until (get-buffer "*Warnings*"))
      (kill-buffer "*Warnings*")
      ;; Not even an empty text takes the place of a draft.
      (should (equal (atomic-test-prompt client) "text for the prompt")))))

;;;; Questions

(ert-deftest atomic-question-heeds-a-quit-that-comes-before-a-key-is-read ()
  (skip-unless (not noninteractive))
  (atomic-test-project
    (atomic-send client "prompt" "/ask-select")
    (atomic-test-until (atomic-dialog-pending))
    (let* (stayed
           ;; The signal of a C-g that comes when the prompt is drawn and no key is waited for yet.
           (key-translation-map (define-keymap "q" (lambda (_) (signal 'quit nil))))
           (unread-command-events (list ?q))
           (guard (run-at-time 20 nil (lambda () (setq stayed t) (abort-recursive-edit)))))
      (atomic-next-attention)
      (cancel-timer guard)
      (should-not stayed)
      (should (= 1 (length (atomic-dialog-pending)))))
    (atomic-cancel-question)
    (atomic-test-until (not (atomic-dialog-pending)))))

(ert-deftest atomic-question-is-answered-by-its-button ()
  (atomic-test-project
    (atomic-send client "prompt" "/ask-select")
    (atomic-test-until (atomic-dialog-pending))
    (should (equal (substring-no-properties (atomic-dialog-mark)) " ⚑1"))
    (with-current-buffer (atomic-chat-buffer client)
      (goto-char (point-min))
      (search-forward "⚑ Run it?")
      (search-forward "2 Block")
      (push-button (match-beginning 0)))
    (atomic-test-shows client "select=\"Block\"")
    (atomic-test-until (not (atomic-dialog-pending)))
    (should-not (string-search "⚑" (atomic-test-chat client)))
    (should (string-search "Run it? — Block (Emacs)" (atomic-test-chat client)))))

(ert-deftest atomic-question-that-ran-out-is-closed ()
  (atomic-test-project
    (atomic-send client "prompt" "/ask-select 300")
    (atomic-test-until (atomic-dialog-pending))
    (atomic-test-shows client "Run it? — expired")
    (should-not (atomic-dialog-pending))))

(ert-deftest atomic-question-in-a-buffer-is-refused-and-postponed ()
  (atomic-test-project
    (atomic-send client "prompt" "/ask-editor")
    (atomic-test-until (atomic-dialog-pending))
    (atomic-next-attention)
    (should (derived-mode-p 'atomic-answer-mode))
    (kill-buffer)
    (should (atomic-dialog-pending))
    (atomic-next-attention)
    (should (equal (buffer-string) "First line\n\nBody\n"))
    (call-interactively (keymap-lookup nil "C-c C-k"))
    (atomic-test-shows client "editor=undefined")
    (atomic-test-until (not (get-buffer "*atomic answer*")))))

(ert-deftest atomic-question-is-chosen-from-the-list ()
  (atomic-test-project
    (atomic-send client "prompt" "/ask-two")
    (atomic-test-until (= 2 (length (atomic-dialog-pending))))
    (let (asked)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (prompt table &rest _)
                   (push prompt asked)
                   (or (cl-find "Second" (all-completions "" table) :test #'string-prefix-p)
                       (car (all-completions "" table)))))
                ((symbol-function 'read-string) (lambda (prompt &rest _) (push prompt asked) "in words")))
        (atomic-attention-list)
        (should (equal asked '("Second: " "Question: ")))
        (atomic-test-until (= 1 (length (atomic-dialog-pending))))
        (atomic-next-attention)
        (atomic-test-shows client "two=[\"1\",\"in words\"]")))
    (should-error (atomic-attention-list) :type 'user-error)))

(ert-deftest atomic-question-with-a-secret-is-not-echoed ()
  (let (asked)
    (cl-letf (((symbol-function 'read-passwd) (lambda (prompt &rest _) (setq asked prompt) "secret"))
              ((symbol-function 'read-string) (lambda (&rest _) (error "Echoed"))))
      (should (equal (atomic-dialog--ask '(:method "oauth_prompt" :title "Key" :secret t)) '(:value "secret")))
      (should (equal asked "Key: ")))))

(ert-deftest atomic-command-asks-what-it-needs ()
  (atomic-test-project
    (atomic-test-say client "say begin")
    (let (asked)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (prompt table &rest _)
                   (setq asked prompt)
                   (car (last (all-completions "" table))))))
        (atomic-set-model)
        (atomic-test-until asked)
        (atomic-test-until (equal (plist-get (plist-get (atomic-session-state (atomic-client-session client)) :model) :id)
                                  "thinker"))
        (atomic-test-until (not (atomic-client-questions client)))))))

(ert-deftest atomic-doctor-reports-without-waiting ()
  (atomic-test-project
    (atomic-doctor)
    (with-current-buffer "*atomic doctor*"
      (atomic-test-until (string-search "That is all." (buffer-string)))
      (should (string-prefix-p (format "Emacs %s" emacs-version) (buffer-string)))
      (should (string-search "atomic-lsp" (buffer-string))))))

(ert-deftest atomic-command-shows-a-shell-as-it-goes ()
  (atomic-test-project
    (atomic-test-say client "say begin")
    (atomic-command-run client "atomic.bash" '(:command "echo marmalade; while ! test -e go; do sleep 0.02; done; echo jam"))
    (atomic-test-shows client "marmalade")
    (should (string-search "▸ $ echo marmalade" (atomic-test-chat client)))
    (should-not (string-search "jam\n" (atomic-test-chat client)))
    (write-region "" nil "go" nil 'silent)
    (atomic-test-shows client "\njam\n")
    (atomic-test-shows client "✓")
    (atomic-command-run client "atomic.bash" '(:command "exit 3"))
    (atomic-test-shows client "▸ $ exit 3 ✗")))

(ert-deftest atomic-command-does-not-ask-who-does-something-else ()
  (atomic-test-project
    (atomic-test-say client "say begin")
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (error "Took the focus"))))
      (atomic-set-model)
      ;; As if a key were pressed.
      (setq atomic-intent-keys -1)
      (atomic-test-until (atomic-dialog-pending))
      (accept-process-output nil 0.1)
      (should (= 1 (length (atomic-dialog-pending)))))
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (signal 'quit nil))))
      (atomic-next-attention))
    (atomic-test-until (not (atomic-dialog-pending)))))

;;;; Sessions

(ert-deftest atomic-sessions-are-listed-and-resumed ()
  (atomic-test-project
    (atomic-test-say client "say the first session")
    (atomic-rename-session "Der erste")
    (atomic-test-until (equal (plist-get (atomic-session-state (atomic-client-session client)) :sessionName) "Der erste"))
    (atomic-new-session)
    (atomic-test-until (not (string-search "first session" (atomic-test-chat client))))
    (atomic-test-say client "say the second session")
    (atomic-sessions)
    (atomic-test-until tabulated-list-entries)
    (goto-char (point-min))
    (search-forward "Der erste")
    (atomic-sessions-resume)
    (atomic-test-shows client "the first session")
    (should-not (string-search "the second session" (atomic-test-chat client)))))

(ert-deftest atomic-fork-brings-the-text-back ()
  (atomic-test-project
    (atomic-test-say client "say one thing")
    (atomic-test-say client "say another thing")
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "say another thing")))
      (atomic-fork)
      (atomic-test-until (equal (atomic-test-prompt client) "say another thing")))
    (should (string-search "one thing" (atomic-test-chat client)))
    (should-not (string-search "another thing" (atomic-test-chat client)))))

(ert-deftest atomic-tree-and-export ()
  (atomic-test-project
    (atomic-test-say client "say one thing")
    (atomic-tree)
    (atomic-test-until (string-search "You: say one thing" (buffer-string)))
    (should (string-match-p "▶ · one thing" (buffer-string)))
    (atomic-export "out.html")
    (atomic-test-until (file-exists-p "out.html"))))

(ert-deftest atomic-tabs-do-not-mix ()
  (atomic-test-project
    (atomic-test-say client "say in the first")
    (atomic-new-tab "other")
    (let ((other (atomic-client-for root "other")))
      (should-not (eq other client))
      (should (derived-mode-p 'atomic-prompt-mode))
      (should (eq (atomic-current-client) other))
      (atomic-test-say other "say in the second")
      (should (string-search "in the second" (atomic-test-chat other)))
      (should-not (string-search "in the second" (atomic-test-chat client)))
      (should-not (string-search "in the first" (atomic-test-chat other)))
      (let (labels)
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_ table &rest _) (setq labels (all-completions "" table)) (atomic-client-label client))))
          (atomic-switch-tab)
          (atomic-test-until (eq client (buffer-local-value 'atomic-prompt-client (window-buffer)))))
        (should (equal (sort labels #'string<) (sort (mapcar #'atomic-client-label (list client other)) #'string<)))))))

(provide 'around-test)
;;; around-test.el ends here

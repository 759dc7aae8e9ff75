;;; parts-test.el --- The parts of the Emacs package alone  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Code:

(require 'atomic-test)
(require 'atomic-menu)
(require 'flymake)

;;;; Entries

(ert-deftest atomic-entry-keeps-its-fold-and-the-readers-place ()
  (with-temp-buffer
    (outline-minor-mode 1)
    (let ((entry (atomic-entry-append 'tool "▸ bash ls" 'atomic-tool "one\ntwo"))
          (after (atomic-entry-append 'text nil nil "The answer")))
      (atomic-entry-fold entry t)
      (should (atomic-entry-folded-p entry))
      (atomic-entry-grow entry "\nthree")
      (should (invisible-p (1- (atomic-entry-end entry))))
      (should-not (invisible-p (atomic-entry-start after)))
      (atomic-entry-fold entry nil)
      (goto-char (atomic-entry-body entry))
      (search-forward "two")
      (let ((place (copy-marker (point))))
        (save-excursion (atomic-entry-replace entry "▸ bash ls ✓" 'atomic-tool "one\ntwo\nthree\nfour"))
        (should (= (point) place))
        (should (looking-back "two" (line-beginning-position))))
      (atomic-entry-fold entry t)
      (save-excursion (atomic-entry-replace entry "▸ bash ls ✗" 'atomic-failure "other"))
      (should (atomic-entry-folded-p entry))
      (should (equal (atomic-entry-text after) "The answer")))))

(ert-deftest atomic-entry-cleans-what-an-agent-writes ()
  (should (equal (atomic-entry-clean "\e[32mgreen\e[0m\a \e]0;title\a✓\r\n") "green ✓\n"))
  (should (equal (atomic-entry-one-line "a\n  b\tc") "a b c")))

;;;; Markdown, places

(ert-deftest atomic-markup-colours-code-and-finds-places ()
  (atomic-test-project
    (make-directory "src/dir" t)
    (write-region "x" nil "src/dir/späße.el" nil 'silent)
    (with-temp-buffer
      (setq default-directory root)
      (let ((entry (atomic-entry-append
                    'text nil nil
                    "See src/dir/späße.el:12-20, `a.txt`, not b.txt nor 1.5:\n```elisp\n(defun f () \"doc\")\n```\nend")))
        (atomic-markup-text (atomic-entry-body entry) (atomic-entry-end entry))
        (atomic-markup-places (atomic-entry-body entry) (atomic-entry-end entry))
        (should (atomic-test-face-p "defun" 'font-lock-keyword-face))
        (let (found (at (point-min)))
          (while (setq at (next-button at))
            (push (cons (file-relative-name (button-get at 'atomic-file) root) (button-get at 'atomic-line)) found)
            (setq at (button-end at)))
          (should (equal (nreverse found) '(("src/dir/späße.el" . 12) ("a.txt")))))
        (goto-char (point-min))
        (search-forward "src/dir")
        (push-button (match-beginning 0))
        (should (equal (buffer-name (window-buffer)) "späße.el"))))))

(ert-deftest atomic-markup-colours-code-without-markdown-mode ()
  (with-temp-buffer
    (insert "```sh\nif true; then :; fi\n```\n```python\ndef f(): pass\n")
    (atomic-markup--paint-code (point-min) (point-max))
    (should (atomic-test-face-p "if true" 'font-lock-keyword-face))
    ;; What no fence ends is not code yet.
    (should-not (atomic-test-face-p "def" 'font-lock-keyword-face))))

(ert-deftest atomic-markup-prettifies-what-is-seen ()
  (with-temp-buffer
    (atomic-chat-mode)
    (let* ((inhibit-read-only t)
           (entries (mapcar (lambda (i) (atomic-entry-append 'text nil nil (format "# Heading %d\n```elisp\n(defun f ())\n```" i)))
                            (number-sequence 1 400))))
      (dolist (entry entries) (atomic-markup-complete (atomic-entry-body entry) (atomic-entry-end entry)))
      (should-not (atomic-test-face-p "defun" 'font-lock-keyword-face))
      (font-lock-ensure (point-min) (atomic-entry-end (car entries)))
      (should (atomic-test-face-p "defun" 'font-lock-keyword-face))
      (should (eq (get-text-property (atomic-entry-body (car entries)) 'atomic-complete) 'pretty))
      (should (eq (get-text-property (atomic-entry-body (nth 200 entries)) 'atomic-complete) 'new)))))

(ert-deftest atomic-markup-leaves-tools-alone ()
  (with-temp-buffer
    (atomic-chat-mode)
    (let ((inhibit-read-only t))
      (atomic-entry-append 'tool "▸ cat" 'atomic-tool "# no heading **not bold**")
      (atomic-entry-append 'text nil nil "# heading\n**strong**"))
    (font-lock-ensure)
    (should-not (atomic-test-face-p "# no heading" 'outline-1))
    (should (atomic-test-face-p "# heading" 'outline-1))
    (should (atomic-test-face-p "**strong**" 'bold))))

(ert-deftest atomic-markup-opens-addresses ()
  (with-temp-buffer
    (atomic-chat-mode)
    (let ((inhibit-read-only t) opened)
      (atomic-render-all (atomic-session-create))
      (atomic-render-facts (atomic-session-create)
                           '((:type "extension_ui_request" :method "oauth_device_code" :userCode "AB-12"
                                    :verificationUri "https://example.org/login?x=1.")))
      (should (string-search "Login: AB-12" (buffer-string)))
      (goto-char (point-min))
      (search-forward "https")
      (cl-letf (((symbol-function 'browse-url) (lambda (url &rest _) (setq opened url))))
        (push-button (match-beginning 0)))
      (should (equal opened "https://example.org/login?x=1")))))

;;;; The header

(ert-deftest atomic-header-tells-everything-and-is-no-code ()
  (let ((client (atomic-client--create :root "/x/"))
        (session (atomic-session-begin
                  "s" "e" 1
                  '(:state (:model (:name "M%d" :contextWindow 1000) :thinkingLevel "high")
                    :messages [(:role "assistant" :usage (:input 600 :output 150 :cost (:total 0.5)))]
                    :usage (:input 600 :output 150 :cost 0.5)
                    :queue (:steering ["a"] :followUp ["b"])
                    :statuses (:ext "\e[31m100%\e[0m") :title "A title" :dialogs [(:id "d" :title "?")]))))
    (setf (atomic-client-session client) session)
    (let ((line (atomic-header-line client)))
      (dolist (part '("⚑ 1" "M%%d" "thinks high" "not connected" "A title" "↑600 ↓150" "75%%" "$0.500" "2 queued" "100%%"))
        (should (string-search part line)))
      (should (eq (get-text-property (string-search "75%" line) 'face line) 'warning)))))

;;;; Drafts and history

(ert-deftest atomic-draft-outlives-its-buffer ()
  (let ((atomic-draft-directory (make-temp-file "drafts" t)))
    (with-temp-buffer
      (atomic-draft-begin "a project")
      (insert "größer\nthan life")
      (atomic-draft-save))
    (with-temp-buffer
      (atomic-draft-begin "another project")
      (should (equal (buffer-string) "")))
    (with-temp-buffer
      (atomic-draft-begin "a project")
      (should (equal (buffer-string) "größer\nthan life"))
      (should (= (file-modes atomic-draft--file) #o600))
      (erase-buffer)
      (atomic-draft-save)
      (should-not (file-exists-p atomic-draft--file)))
    (delete-directory atomic-draft-directory t)))

(ert-deftest atomic-draft-history-gives-the-draft-back ()
  (with-temp-buffer
    (let ((atomic-draft-directory nil)) (atomic-draft-begin "x"))
    (atomic-draft-remember "second")
    (atomic-draft-learn '("first" "second"))
    (insert "a draft")
    (atomic-draft-older)
    (should (equal (buffer-string) "second"))
    (atomic-draft-older)
    (should (equal (buffer-string) "first"))
    (should-error (atomic-draft-older) :type 'user-error)
    (atomic-draft-newer)
    (atomic-draft-newer)
    (should (equal (buffer-string) "a draft"))
    (should-error (atomic-draft-newer) :type 'user-error)
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "first")))
      (atomic-draft-search))
    (should (equal (buffer-string) "first"))))

;;;; Code and diagnostics

(ert-deftest atomic-quote-names-the-place-and-what-is-not-saved ()
  (atomic-test-project
    (write-region "(defun f ()\n  ```)\n" nil "späße.el" nil 'silent)
    (with-current-buffer (find-file-noselect "späße.el")
      (should (equal (atomic-quote-region (point-min) (point-max) root)
                     "`späße.el:1-2`\n````elisp\n(defun f ()\n  ```)\n````\n"))
      (goto-char (point-min))
      (insert ";")
      (should (string-prefix-p "`späße.el:1-1` (not saved yet)\n" (atomic-quote-region 1 3 root))))))

(ert-deftest atomic-quote-takes-reports-of-flymake-and-flycheck ()
  (with-temp-buffer
    (insert "one\ntwo\nthree\n")
    (setq-local flymake-mode t)
    (cl-letf (((symbol-function 'flymake-diagnostics)
               (lambda (&rest _) (list (flymake-make-diagnostic (current-buffer) 5 7 :error "wrong\nword")
                                       (flymake-make-diagnostic (current-buffer) 1 2 :error "first")))))
      (should (equal (atomic-quote-diagnostics) '("line 1: first" "line 2: wrong word")))
      (should (equal (atomic-quote-diagnostics 5 8) '("line 2: wrong word")))))
  (with-temp-buffer
    (setq-local flycheck-mode t
                flycheck-current-errors '((3 . "from\nflycheck")))
    (cl-letf (((symbol-function 'flycheck-error-line) #'car)
              ((symbol-function 'flycheck-error-message) #'cdr))
      (should (equal (atomic-quote-diagnostics) '("line 3: from flycheck"))))))

;;;; Images

(ert-deftest atomic-image-takes-only-images ()
  (with-temp-buffer
    (should-error (atomic-image-add "text" "a.png") :type 'user-error)
    (let ((atomic-image-limit 4))
      (should-error (atomic-image-add "GIF89a..." "a.gif") :type 'user-error))
    (atomic-image--yank 'image/gif "GIF89a...")
    (should (equal (atomic-image-params)
                   '(:images [(:type "image" :data "R0lGODlhLi4u" :mimeType "image/gif")])))
    (should (equal (atomic-image-words) "1 image: the clipboard"))))

;;;; The queue

(ert-deftest atomic-queue-is-read-as-it-was-written ()
  (atomic-test-project
    (let ((texts '(("steer" . "now\nand here") ("follow_up" . "later"))))
      (with-current-buffer (generate-new-buffer "*atomic queue*")
        (atomic-queue-mode)
        (setq atomic-queue--client client atomic-queue--taken texts)
        (atomic-queue--insert texts)
        (should (equal (atomic-queue--read) texts))
        (goto-char (point-min))
        (search-forward "later")
        (replace-match "much later")
        (should (equal (cdadr (atomic-queue--read)) "much later"))
        (kill-buffer)))
    (should (equal (atomic-test-prompt client) "now\nand here\nlater\n"))))

;;;; What a project must not decide, what is copied

(ert-deftest atomic-programs-are-not-chosen-by-a-project ()
  (should (risky-local-variable-p 'atomic-server-command))
  (should (risky-local-variable-p 'atomic-settings))
  (with-temp-buffer
    (setq-local atomic-server-command '("evil") atomic-settings '(:agent (:command "evil")))
    (should-not (member "evil" (atomic-wire--command "/")))
    (should-not (string-search "evil" (format "%S" (atomic-client--options (atomic-client--create :root "/")))))
    (should-not (member "evil" (atomic-doctor--command)))))

(ert-deftest atomic-transcript-is-copied-as-text ()
  (with-temp-buffer
    (atomic-chat-mode)
    (let ((inhibit-read-only t))
      (atomic-entry-append 'tool "▸ cat" 'atomic-tool (atomic-tool--cut (make-string 5000 ?x))))
    (kill-ring-save (point-min) (point-max))
    (should-not (text-properties-at 0 (current-kill 0)))
    (should (string-search "x… (5000 characters)" (current-kill 0)))))

;;;; The menu

(ert-deftest atomic-menu-has-every-command-once ()
  (should (= (length atomic-lsp-commands)
             (cl-loop for group in (atomic-menu-groups) sum (length (atomic-menu-rows group)))))
  (dolist (group (atomic-menu-groups))
    (let ((keys (atomic-menu-keys (mapcar (lambda (row) (plist-get (cdr row) :title)) (atomic-menu-rows group)) '("q"))))
      (should-not (member "?" keys))
      (should (equal keys (seq-uniq keys)))))
  (pcase-dolist (`(,id . ,command) atomic-command-own)
    (ignore id)
    (should (commandp command))))

;;;; Lists

(ert-deftest atomic-tree-is-walked-without-recursion ()
  (let ((node nil))
    (dotimes (i 20000)
      (setq node (list :entry (list :type "message" :id (number-to-string i)
                                    :message (list :role "user" :content (format "m%d" i)))
                       :children (if node (vector node) []))))
    (let ((lines (atomic-tree--lines (vector node) "0")))
      (should (= (length lines) 20000))
      (should (nth 3 (car (last lines)))))))

(ert-deftest atomic-sessions-are-named-by-what-is-known ()
  (let ((row (cadr (car (atomic-sessions--rows
                         '((:path "/p" :modified "2026-11-30T21:31:49.863Z" :messageCount 3 :firstMessage "Hello\nyou")))))))
    (should (string-prefix-p "2026-1" (aref row 0)))
    (should (equal (aref row 1) "3"))
    (should (equal (aref row 2) "Hello you"))))

(ert-deftest atomic-changes-shows-hunks-and-knows-what-was-before ()
  (atomic-test-project
    (let ((file (list :path (expand-file-name "a.txt" root) :status "modified" :added 2 :removed 1
                      :hunks (vector '(:header "@@ -1,3 +1,4 @@" :oldStart 1 :oldLines 3 :newStart 1 :newLines 4
                                       :lines [" one" "-zwei" "+two" "+and" " three"])))))
      (write-region "one\ntwo\nand\nthree\n" nil "a.txt" nil 'silent)
      (with-temp-buffer
        (setq default-directory root)
        (atomic-changes-mode)
        (atomic-changes--show (list :files (vector file)))
        (should (string-prefix-p "modified a.txt  +2 −1\n@@ -1,3 +1,4 @@\n one\n-zwei\n" (buffer-string)))
        (should (atomic-test-face-p "-zwei" 'diff-removed))
        (goto-char (point-min))
        (search-forward "+and")
        (should (equal (get-text-property (1- (point)) 'atomic-hunk) '(0 . "@@ -1,3 +1,4 @@")))
        (should (equal (atomic-changes--file) file)))
      (with-current-buffer (atomic-changes--original file)
        (should (equal (buffer-string) "one\nzwei\nthree\n"))
        (kill-buffer)))))

;;;; Questions

(ert-deftest atomic-dialog-labels-differ ()
  (should (equal (atomic-dialog-labels ["a" "a" "b\nc" ""]) '("a" "a (2)" "b c" " (4)"))))

(provide 'parts-test)
;;; parts-test.el ends here

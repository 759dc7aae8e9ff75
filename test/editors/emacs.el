;;; emacs.el --- The part of the Emacs driver that runs inside Emacs  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Commentary:
;; Guarantees that all that a language server sends, and all that Emacs asks its user when the test answers, is told over the
;; socket, and that Emacs ends when the test does.  Must not know what is tested.  Loaded after the user's configuration by
;; test/support/emacs.ts, which names the socket in the environment.

;;; Code:

;; There need be no compiler.
(setq native-comp-jit-compilation nil
      native-comp-enable-subr-trampolines nil)

(require 'cl-lib)
(require 'json)
(require 'eglot)
(require 'subr-x)

(defvar atomic-test--socket nil "The connection to the test.")
(defvar atomic-test--rest "" "What came of a line that is not complete.")
(defvar atomic-test--answers (make-hash-table) "What the test answered, by the number of the question.")
(defvar atomic-test--questions 0 "How many questions there were.")
(defvar atomic-test--asking 0 "How many questions are open.")

(defun atomic-test--json (value)
  "VALUE in JSON: a list is an object if it can be one, nil is null."
  (condition-case nil
      (json-serialize value :null-object nil :false-object :json-false)
    (error (condition-case nil
               (json-encode value)
             (error (json-serialize (prin1-to-string value)))))))

(defun atomic-test-tell (kind data)
  "Tell the test the event KIND with DATA."
  (when (process-live-p atomic-test--socket)
    (process-send-string atomic-test--socket
                         (format "{\"kind\":%s,\"data\":%s}\n" (json-serialize kind) (atomic-test--json data)))))

(defun atomic-test--tell-outcome (kind id thunk)
  "Tell the event KIND with ID and what THUNK returns or signals."
  (let ((outcome (condition-case problem
                     (format "\"value\":%s" (atomic-test--json (funcall thunk)))
                   ((error quit)
                    (let ((code (alist-get 'jsonrpc-error-code (cdr-safe problem)))
                          (message (alist-get 'jsonrpc-error-message (cdr-safe problem))))
                      (format "\"error\":{\"message\":%s,\"code\":%s}"
                              (json-serialize (or message (error-message-string problem)))
                              (or code "null")))))))
    (process-send-string atomic-test--socket
                         (format "{\"kind\":%s,\"data\":{\"id\":%d,%s}}\n" (json-serialize kind) id outcome))))

(defun atomic-test--eval (code)
  "The value of the forms in CODE, as if a command had run them in the selected window."
  (with-current-buffer (window-buffer (selected-window))
    (eval (car (read-from-string (format "(progn %s\n)" code))) t)))

(defun atomic-test--await (id code)
  "Tell the value of CODE as soon as it is not nil, under ID.  Emacs goes on meanwhile."
  ;; No event stands for any change of any state; this clock is Emacs's own and costs the test nothing.
  (let (timer)
    (setq timer
          (run-at-time
           0 0.01
           (lambda ()
             (let (value problem)
               (condition-case caught
                   (setq value (atomic-test--eval code))
                 (error (setq problem caught)))
               (when (or value problem)
                 (cancel-timer timer)
                 (atomic-test--tell-outcome
                  "condition" id
                  (lambda () (if problem (signal (car problem) (cdr problem)) value))))))))))

(defun atomic-test--handle (line)
  "Do what the test asks for in LINE."
  (let* ((request (json-parse-string line :object-type 'plist :null-object nil :false-object nil))
         (id (plist-get request :id))
         (code (plist-get request :code)))
    (pcase (plist-get request :do)
      ;; By a timer, because what runs in a filter cannot wait for other processes as a command can.
      ("eval" (run-at-time 0 nil #'atomic-test--tell-outcome "outcome" id (lambda () (atomic-test--eval code))))
      ("await" (atomic-test--await id code))
      ("answer" (puthash id (list (plist-get request :answer)) atomic-test--answers)))))

(defun atomic-test--receive (_socket text)
  "Take TEXT from the test."
  (setq atomic-test--rest (concat atomic-test--rest text))
  (let (end)
    (while (setq end (string-search "\n" atomic-test--rest))
      (let ((line (substring atomic-test--rest 0 end)))
        (setq atomic-test--rest (substring atomic-test--rest (1+ end)))
        (atomic-test--handle line)))))

;; What servers send.
(define-advice jsonrpc-connection-receive (:before (_connection message) atomic-test)
  (when (plist-get message :method)
    (atomic-test-tell (plist-get message :method) (plist-get message :params))))
(add-hook 'eglot-managed-mode-hook
          (lambda ()
            (when buffer-file-name
              (atomic-test-tell (if (eglot-managed-p) "attach" "detach") (list :file buffer-file-name)))))
(define-advice eglot--on-shutdown (:before (&rest _) atomic-test)
  (atomic-test-tell "exit" nil))

;; The dialogs of Emacs, answered by the test instead of a person.  They wait as the minibuffer does: timers and processes go
;; on, a second question at the same time is refused, and a throw from outside ends them.
(defun atomic-test--ask (kind prompt &optional choices initial)
  "Ask the test a question of a KIND with PROMPT, CHOICES and INITIAL input; nil from the test is a quit."
  (when (and (> atomic-test--asking 0) (not enable-recursive-minibuffers))
    (user-error "Command attempted to use minibuffer while in minibuffer"))
  (let ((id (cl-incf atomic-test--questions))
        (atomic-test--asking (1+ atomic-test--asking))
        answer)
    (atomic-test-tell kind (append (list :id id :prompt (substring-no-properties prompt))
                                   (and choices (list :items (vconcat choices)))
                                   (and initial (list :default initial))))
    (while (not (setq answer (gethash id atomic-test--answers)))
      (accept-process-output nil 0.05))
    (or (car answer) (signal 'quit nil))))

(defun atomic-test--take-dialogs ()
  "Let the test answer what Emacs asks."
  ;; Compiled code calls primitives past any advice, so where there is a variable for it, it is set.
  (setq completing-read-function
        (lambda (prompt collection &optional predicate _match initial _history default &rest _)
          (atomic-test--ask "select" prompt
                            (mapcar #'substring-no-properties (all-completions "" collection predicate))
                            (or (if (consp initial) (car initial) initial)
                                (if (consp default) (car default) default)))))
  (define-advice read-from-minibuffer (:override (prompt &optional initial &rest _) atomic-test)
    (atomic-test--ask "input" prompt nil (if (consp initial) (car initial) initial)))
  (define-advice read-string (:override (prompt &optional initial _history default &rest _) atomic-test)
    (atomic-test--ask "input" prompt nil (or initial (if (consp default) (car default) default))))
  (define-advice y-or-n-p (:override (prompt) atomic-test)
    (equal (atomic-test--ask "select" prompt '("y" "n")) "y"))
  (define-advice yes-or-no-p (:override (prompt) atomic-test)
    (equal (atomic-test--ask "select" prompt '("yes" "no")) "yes")))

(defun atomic-test--parsed (text)
  "TEXT as Eglot writes JSON: objects are plists, nil is null, an empty object stays what it is."
  (cl-labels ((plist (value)
                (cond ((vectorp value) (vconcat (mapcar #'plist value)))
                      ((and (hash-table-p value) (> (hash-table-count value) 0))
                       (let (pairs)
                         (maphash (lambda (key item)
                                    (setq pairs (cons (plist item) (cons (intern (concat ":" key)) pairs))))
                                  value)
                         (nreverse pairs)))
                      (t value))))
    (plist (json-parse-string text :null-object nil :false-object :json-false))))

(defun atomic-test-start-server (text)
  "Start the language server that TEXT describes for the current buffer, as the user of Eglot would."
  (let* ((server (atomic-test--parsed text))
         (given (plist-get server :initializationOptions))
         (eglot-sync-connect t))
    (when (consp (plist-get server :env))
      (cl-loop for (name value) on (plist-get server :env) by #'cddr
               do (setenv (substring (symbol-name name) 1) value)))
    (push (cons '(markdown-mode text-mode prog-mode fundamental-mode)
                (append (list (plist-get server :command))
                        (append (plist-get server :args) nil)
                        (and given (list :initializationOptions given))))
          eglot-server-programs)
    (call-interactively #'eglot)
    (or (eglot-managed-p) (error "Eglot does not manage %s" (buffer-name)))))

(defun atomic-test-execute (text)
  "Let the language server of this buffer (or the first) carry out the command with arguments that TEXT describes."
  (eglot-execute (or (eglot-current-server)
                     (car (apply #'append (hash-table-values eglot--servers-by-project)))
                     (error "No language server runs"))
                 (atomic-test--parsed text)))

(setq inhibit-startup-screen t
      inhibit-startup-echo-area-message t
      ring-bell-function #'ignore)
;; Debian puts it on the load path, but does not register it.
(unless (fboundp 'markdown-mode)
  (autoload 'markdown-mode "markdown-mode" nil t)
  (add-to-list 'auto-mode-alist '("\\.md\\'" . markdown-mode)))
(unless (equal (getenv "ATOMIC_TEST_DIALOGS") "own")
  (atomic-test--take-dialogs))
(setq atomic-test--socket
      (make-network-process
       :name "atomic-test" :family 'local :service (getenv "ATOMIC_TEST_SOCKET") :coding 'utf-8-unix :noquery t
       :filter #'atomic-test--receive
       :sentinel (lambda (&rest _) (let (kill-emacs-query-functions) (kill-emacs)))))
(add-hook (if (daemonp) 'emacs-startup-hook 'window-setup-hook)
          (lambda () (atomic-test-tell "started" (list :pid (emacs-pid)))))

(provide 'atomic-test)
;;; emacs.el ends here

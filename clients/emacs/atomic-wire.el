;;; atomic-wire.el --- The language server as a process  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; One `atomic-lsp' process, spoken to by the built-in jsonrpc, here or on the host of the project.  Guarantees: nothing waits but
;; what a key ends; what is asked of a server that ended is answered with a sentence; nothing of a server that ended is left; no
;; file of a project has a say in which program runs.
;; Must not know: sessions, facts, how anything is shown.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'subr-x)
(require 'url-util)

(defcustom atomic-server-command '("atomic-lsp" "--stdio")
  "The language server: a program and its arguments.
For a project on another host it is a program of that host."
  :type '(repeat string)
  :risky t
  :group 'atomic)

(defcustom atomic-settings nil
  "Settings of the server, a plist as in docs/protocol.md.
For example (:agent (:command \"pi\") :whileBusy \"followUp\")."
  :type '(plist :key-type symbol :value-type sexp)
  :risky t
  :group 'atomic)

(defun atomic-wire-uri (file)
  "FILE, perhaps on another host, as the URI that a server there knows."
  (concat "file://" (url-hexify-string (directory-file-name (file-local-name (expand-file-name file)))
                                       url-path-allowed-chars)))

(defun atomic-wire-path (uri root)
  "The file that URI of a server for ROOT names, as text."
  (concat (file-remote-p root)
          (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8)))

(defun atomic-wire-check (root)
  "Signal an error with a sentence if no server can be started for ROOT."
  (let ((default-directory root)
        (program (car (default-value 'atomic-server-command))))
    (unless (file-directory-p root)
      (error "The folder %s is not there: open a file of a project" root))
    (unless (executable-find program t)
      (if-let* ((host (file-remote-p root 'host)))
          (error "%s is not on %s, where the agent would run: install it there (npm install -g atomic-lsp), or add its folder to `tramp-remote-path'"
                 program host)
        (error "%s is not there: install it (npm install -g atomic-lsp) or set `atomic-server-command'" program)))))

(defun atomic-wire--command (root)
  "The command line of a server for ROOT."
  (if (file-remote-p root)
      ;; Over a connection to another host a terminal lies between, which would echo and hold lines back.
      (append '("/bin/sh" "-c" "stty raw -echo >/dev/null 2>&1; exec \"$0\" \"$@\"")
              (default-value 'atomic-server-command))
    (default-value 'atomic-server-command)))

(cl-defun atomic-wire-open (name root &key notified asked ended)
  "Start a server called NAME for the folder ROOT and return the connection.
NOTIFIED and ASKED are called with a method and parameters, ENDED with the
connection when the server has ended."
  (let* ((default-directory root)
         (arguments
          (list :name name
                :process (lambda ()
                           (make-process :name name :command (atomic-wire--command root)
                                         :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                                         :stderr (get-buffer-create (format "*%s stderr*" name))
                                         :file-handler t))
                :notification-dispatcher (lambda (_connection method params) (funcall notified method params))
                :request-dispatcher (lambda (_connection method params) (funcall asked method params))
                :on-shutdown (lambda (connection)
                               (atomic-wire--clean name)
                               (funcall ended connection)))))
    ;; Nothing is kept of what is said: it is much, and some of it is secret.  Emacs 29 has another name for that.
    (condition-case nil
        (apply #'make-instance 'jsonrpc-process-connection :events-buffer-config '(:size 0) arguments)
      (invalid-slot-name
       (apply #'make-instance 'jsonrpc-process-connection :events-buffer-scrollback-size 0 arguments)))))

(defun atomic-wire--clean (name)
  "Kill the buffers that jsonrpc made for the connection NAME."
  (let ((buffers (delq nil (mapcar #'get-buffer
                                   (cl-loop for kind in '("output" "stderr" "events")
                                            collect (format " *%s %s*" name kind)
                                            collect (format "*%s %s*" name kind))))))
    (dolist (buffer buffers)
      (when-let* ((process (get-buffer-process buffer))
                  ((process-live-p process)))
        (set-process-query-on-exit-flag process nil))
      (let ((kill-buffer-query-functions nil))
        (kill-buffer buffer)))))

(defun atomic-wire-live-p (connection)
  "Whether CONNECTION, which may be nil, has a server."
  (and connection (jsonrpc-running-p connection)))

(defun atomic-wire--sentence (failure)
  "The sentence of FAILURE, an error of jsonrpc."
  (or (plist-get failure :message) (format "%S" failure)))

(defun atomic-wire--readable (value)
  "VALUE with U+FFFD in place of what JSON cannot hold.
Those are raw bytes and halves of characters."
  (cond ((stringp value)
         (concat (mapcar (lambda (char) (if (or (> char #x10ffff) (<= #xd800 char #xdfff)) #xfffd char))
                         (string-to-multibyte value))))
        ((vectorp value) (vconcat (mapcar #'atomic-wire--readable value)))
        ((proper-list-p value) (mapcar #'atomic-wire--readable value))
        (t value)))

(defun atomic-wire--send (params send)
  "Call SEND with PARAMS, and again with readable ones where JSON cannot hold them.
A buffer whose coding was guessed wrong has such bytes; they must not
keep a prompt from being sent."
  (condition-case nil
      (funcall send params)
    (error (funcall send (atomic-wire--readable params)))))

(defun atomic-wire-request (connection method params done)
  "Send METHOD with PARAMS over CONNECTION.
DONE gets an error or nil, and the result."
  (if (not (atomic-wire-live-p connection))
      (funcall done "The language server does not run." nil)
    (condition-case failure
        (atomic-wire--send
         params
         (lambda (params)
           (jsonrpc-async-request connection method params
                                  :success-fn (lambda (result) (funcall done nil result))
                                  :error-fn (lambda (failure) (funcall done (atomic-wire--sentence failure) nil))
                                  :timeout-fn #'ignore
                                  :timeout nil)))
      (error (funcall done (error-message-string failure) nil)))))

(defun atomic-wire-wait (connection method params seconds)
  "The result of METHOD with PARAMS over CONNECTION, or nil.
Waits until a key is pressed, and at most SECONDS."
  (let ((until (time-add nil seconds))
        (answer nil))
    (atomic-wire-request connection method params
                         (lambda (failure result) (setq answer (list failure result))))
    (while (and (not answer)
                (atomic-wire-live-p connection)
                (not (and (not noninteractive) (input-pending-p)))
                (time-less-p nil until))
      (accept-process-output nil 0.05))
    (cadr answer)))

(defun atomic-wire-notify (connection method params)
  "Send the notification METHOD with PARAMS over CONNECTION, if it is there."
  (when (atomic-wire-live-p connection)
    (ignore-errors
      (atomic-wire--send params (lambda (params) (jsonrpc-notify connection method params))))))

(defun atomic-wire-end (connection)
  "Ask the server behind CONNECTION to end."
  (atomic-wire-request connection :shutdown nil
                       (lambda (_failure _) (atomic-wire-notify connection :exit nil))))

(provide 'atomic-wire)
;;; atomic-wire.el ends here

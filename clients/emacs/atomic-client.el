;;; atomic-client.el --- The language server as a process  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; One `atomic-lsp' process for each project, spoken to by the built-in jsonrpc.  Guarantees: nothing here waits; a request is
;; asynchronous and its failure is told to whoever sent it; a process that ended is started again at the next use and goes
;; on where the events stopped; one `atomic-client-update-functions' for each batch of facts.
;; Must not know: how anything is shown.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'url-util)
(require 'atomic-session)

(defcustom atomic-server-command '("atomic-lsp" "--stdio")
  "The language server: a program and its arguments."
  :type '(repeat string)
  :group 'atomic)

(defcustom atomic-settings nil
  "Settings of the server, a plist as in docs/protocol.md.
For example (:agent (:command \"pi\") :whileBusy \"followUp\")."
  :type '(plist :key-type symbol :value-type sexp)
  :group 'atomic)

(defcustom atomic-flushes-per-second 30
  "At most so many updates of a transcript are made in a second."
  :type 'natnum
  :group 'atomic)

(defvar atomic-client-update-functions nil
  "Called with a client and the facts of one batch, already folded.
Instead of the facts it is `reset' where the session was read anew, and
`gone' where the server ended.")

(cl-defstruct (atomic-client (:constructor atomic-client--create) (:copier nil))
  "The server of one project."
  root connection
  (session (atomic-session-create))
  ready waiting origin
  (intents (make-hash-table :test #'equal)))

(defvar atomic-client--all (make-hash-table :test #'equal)
  "The clients by the root of their project.")

(defvar atomic-client--count 0
  "How many intents there were.")

(defun atomic-client-list ()
  "All clients."
  (hash-table-values atomic-client--all))

(defun atomic-client-for (root)
  "The client of the project at ROOT, perhaps one that is not started."
  (let ((root (file-name-as-directory (expand-file-name root))))
    (or (gethash root atomic-client--all)
        (puthash root (atomic-client--create :root root) atomic-client--all))))

(defun atomic-client-live-p (client)
  "Whether the server of CLIENT is alive."
  (let ((connection (atomic-client-connection client)))
    (and connection (jsonrpc-running-p connection))))

(defun atomic-client--tell (client what)
  "Run `atomic-client-update-functions' with CLIENT and WHAT."
  (run-hook-wrapped 'atomic-client-update-functions
                    (lambda (listener)
                      (with-demoted-errors "Atomic: %S" (funcall listener client what))
                      nil)))

(defun atomic-client--sentence (failure)
  "The sentence of FAILURE, an error of jsonrpc."
  (or (plist-get failure :message) (format "%S" failure)))

(defun atomic-client--request (client method params done)
  "Send METHOD with PARAMS to CLIENT's server.
DONE gets an error or nil, and the result."
  (if (not (atomic-client-live-p client))
      (funcall done "The language server does not run." nil)
    (condition-case failure
        (jsonrpc-async-request (atomic-client-connection client) method params
                               :success-fn (lambda (result) (funcall done nil result))
                               :error-fn (lambda (failure) (funcall done (atomic-client--sentence failure) nil))
                               :timeout-fn #'ignore
                               :timeout nil)
      (error (funcall done (error-message-string failure) nil)))))

(defun atomic-client--ready (client failure)
  "Tell all who wait for CLIENT that it is there, or FAILURE."
  (let ((waiting (nreverse (atomic-client-waiting client))))
    (setf (atomic-client-waiting client) nil)
    (dolist (callback waiting)
      (funcall callback failure))))

(defun atomic-client--take (client answer)
  "Set CLIENT's session to ANSWER of `atomic/attach' or `atomic/resync'."
  (if-let* ((snapshot (plist-get answer :snapshot)))
      (progn
        (setf (atomic-client-session client)
              (atomic-session-begin (plist-get answer :session) (plist-get answer :epoch)
                                    (plist-get answer :seq) snapshot))
        (atomic-client--tell client 'reset))
    (let ((session (atomic-client-session client)))
      (setf (atomic-session-name session) (plist-get answer :session)
            (atomic-session-epoch session) (plist-get answer :epoch)
            (atomic-session-seq session) (plist-get answer :seq))
      (atomic-client--tell client nil))))

(defun atomic-client--settle (client fact)
  "Tell who sent an intent to CLIENT what came of it, according to FACT."
  (let* ((intents (atomic-client-intents client))
         (settled (gethash (plist-get fact :intent) intents)))
    (when settled
      (remhash (plist-get fact :intent) intents)
      (funcall settled fact))))

(defun atomic-client--events (client batch)
  "Fold BATCH of `atomic/events' into CLIENT's session, and tell it once."
  (let ((session (atomic-client-session client))
        (facts (append (plist-get batch :facts) nil)))
    (dolist (fact facts)
      (atomic-session-apply session fact)
      (when (and (equal (plist-get fact :type) "intent_accepted")
                 (gethash (plist-get fact :intent) (atomic-client-intents client)))
        (setf (atomic-client-origin client) (plist-get (plist-get fact :origin) :id))))
    (setf (atomic-session-epoch session) (plist-get batch :epoch)
          (atomic-session-seq session) (plist-get batch :to))
    (atomic-client--tell client facts)
    (dolist (fact facts)
      (when (equal (plist-get fact :type) "intent_settled")
        (atomic-client--settle client fact)))))

(defun atomic-client--notified (client method params)
  "Take the notification METHOD with PARAMS of CLIENT's server."
  (pcase method
    ('atomic/events (atomic-client--events client params))
    ('atomic/resync (atomic-client--take client params))
    ('window/showMessage (message "Atomic: %s" (plist-get params :message)))))

(defun atomic-client--asked (_client method _params)
  "Answer the request METHOD of a server at once.
A question (`atomic/dialog') is postponed, never refused: it is a fact
besides, and is answered by an intent when the person wants to."
  (pcase method
    ((or 'atomic/dialog 'window/showMessageRequest 'client/registerCapability
         'client/unregisterCapability 'window/workDoneProgress/create)
     nil)
    (_ (jsonrpc-error :code -32601 :message (format "%s is not known here." method)))))

(defun atomic-client--ended (client connection)
  "The server of CLIENT behind CONNECTION ended."
  (when (eq connection (atomic-client-connection client))
    (setf (atomic-client-connection client) nil
          (atomic-client-ready client) nil)
    (let ((intents (atomic-client-intents client))
          (sentence "The language server ended; the next command starts it again."))
      (atomic-client--ready client sentence)
      (maphash (lambda (id settled)
                 (funcall settled (list :type "intent_settled" :intent id :outcome "unknown" :error sentence)))
               (prog1 (copy-hash-table intents) (clrhash intents))))
    (atomic-client--tell client 'gone)))

(defun atomic-client--connection (client)
  "A new connection of CLIENT, with its process."
  (let* ((default-directory (atomic-client-root client))
         (name (format "atomic %s" (abbreviate-file-name (atomic-client-root client))))
         (arguments
          (list :name name
                :process (lambda ()
                           (make-process :name name :command atomic-server-command
                                         :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                                         :stderr (get-buffer-create (format " *%s stderr*" name))))
                :notification-dispatcher
                (lambda (_connection method params) (atomic-client--notified client method params))
                :request-dispatcher
                (lambda (_connection method params) (atomic-client--asked client method params))
                :on-shutdown (lambda (connection) (atomic-client--ended client connection)))))
    ;; Nothing is kept of what is said: it is much, and some of it is secret.  Emacs 29 has another name for that.
    (condition-case nil
        (apply #'make-instance 'jsonrpc-process-connection :events-buffer-config '(:size 0) arguments)
      (invalid-slot-name
       (apply #'make-instance 'jsonrpc-process-connection :events-buffer-scrollback-size 0 arguments)))))

(defun atomic-client--options ()
  "The initialization options."
  (append (list :client (list :name "Emacs" :version emacs-version :events t :dialogs t
                              :flushesPerSecond atomic-flushes-per-second))
          atomic-settings))

(defun atomic-client--attach (client)
  "Let the events of CLIENT's session come, from where they stopped."
  (let* ((session (atomic-client-session client))
         (epoch (atomic-session-epoch session)))
    (atomic-client--request
     client :atomic/attach
     (if epoch
         (list :cursor (list :epoch epoch :seq (atomic-session-seq session)))
       (make-hash-table))
     (lambda (failure answer)
       (unless failure
         (setf (atomic-client-ready client) t)
         (atomic-client--take client answer))
       (atomic-client--ready client failure)))))

(defun atomic-client--start (client)
  "Start the server of CLIENT."
  (let ((root (atomic-client-root client)))
    (condition-case failure
        (progn
          (when (file-remote-p root)
            (error "%s is on another host, where this package cannot start the server yet: run Emacs there" root))
          (unless (executable-find (car atomic-server-command))
            (error "%s is not there: install it (npm install -g atomic-lsp) or set `atomic-server-command'"
                   (car atomic-server-command)))
          (setf (atomic-client-connection client) (atomic-client--connection client))
          (atomic-client--request
           client :initialize
           (list :processId (emacs-pid)
                 :rootUri (concat "file://" (url-hexify-string (directory-file-name root) url-path-allowed-chars))
                 :capabilities (make-hash-table)
                 :clientInfo (list :name "Emacs" :version emacs-version)
                 :initializationOptions (atomic-client--options))
           (lambda (failure _)
             (if failure
                 (atomic-client--ready client failure)
               (jsonrpc-notify (atomic-client-connection client) :initialized (make-hash-table))
               (atomic-client--attach client)))))
      (error (setf (atomic-client-connection client) nil)
             (atomic-client--ready client (error-message-string failure))))))

(defun atomic-client-ensure (client callback)
  "Call CALLBACK when CLIENT's session is there, with nil or a sentence why not."
  (if (and (atomic-client-ready client) (atomic-client-live-p client))
      (funcall callback nil)
    (push callback (atomic-client-waiting client))
    (unless (atomic-client-live-p client)
      (setf (atomic-client-ready client) nil)
      (atomic-client--start client))))

(defun atomic-client-complain (sentence)
  "Show SENTENCE, an error, to the person."
  (message "Atomic: %s" sentence))

(defun atomic-client-settled-default (fact)
  "Show FACT, the outcome of an intent, if it is bad."
  (unless (equal (plist-get fact :outcome) "done")
    (atomic-client-complain (or (plist-get fact :error)
                                (format "%s: %s" (plist-get fact :command) (plist-get fact :outcome))))))

(cl-defun atomic-client-intent (client command params &key accepted settled)
  "Send COMMAND with PARAMS as an intent to CLIENT's session.
ACCEPTED is called when the hub took it, with nil, or with a sentence
why it did not; SETTLED with the fact that says what came of it."
  (let ((id (format "emacs-%d-%s-%d" (emacs-pid) (format-time-string "%s%N") (cl-incf atomic-client--count)))
        (accepted (or accepted (lambda (failure) (when failure (atomic-client-complain failure))))))
    (atomic-client-ensure
     client
     (lambda (failure)
       (if failure
           (funcall accepted failure)
         (puthash id (or settled #'atomic-client-settled-default) (atomic-client-intents client))
         (atomic-client--request
          client :atomic/intent
          (list :id id :command command :params (or params (make-hash-table)))
          (lambda (failure _)
            (when failure (remhash id (atomic-client-intents client)))
            (funcall accepted failure))))))
    id))

(defun atomic-client-read (client command params done)
  "Ask CLIENT for the data of COMMAND, a reading one, with PARAMS.
DONE is called with nil and the data, or with a sentence."
  (atomic-client-ensure
   client
   (lambda (failure)
     (if failure
         (funcall done failure nil)
       (atomic-client--request client :workspace/executeCommand
                               (list :command command :arguments (if params (vector params) (vector)))
                               done)))))

(defun atomic-client-stop (client)
  "End the server of CLIENT; the session stays in the hub."
  (when-let* ((connection (and (atomic-client-live-p client) (atomic-client-connection client))))
    (atomic-client--request client :shutdown nil
                            (lambda (_failure _)
                              (when (jsonrpc-running-p connection)
                                (jsonrpc-notify connection :exit nil))))))

(provide 'atomic-client)
;;; atomic-client.el ends here

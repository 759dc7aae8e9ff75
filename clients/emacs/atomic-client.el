;;; atomic-client.el --- A session that this Emacs takes part in  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; One client for each session of a project.  Guarantees: nothing here waits; a server that ended is started again at the next use
;; and goes on where the events stopped; an intent whose acknowledgement was lost is sent again under the same name, which is why
;; it happens once; one `atomic-client-update-functions' for each batch of facts.
;; Must not know: how anything is shown.

;;; Code:

(require 'cl-lib)
(require 'atomic-fold)
(require 'atomic-session)
(require 'atomic-wire)

(defcustom atomic-flushes-per-second 30
  "At most so many updates of a transcript are made in a second."
  :type 'natnum
  :group 'atomic)

(defvar atomic-client-update-functions nil
  "Called with a client and the facts of one batch, already folded.
Instead of the facts it is `reset' where the session was read anew,
`asked' where the server itself has a question, and `gone' where the
server ended.")

(cl-defstruct (atomic-client (:constructor atomic-client--create) (:copier nil))
  "One session of the project at ROOT; NAME is nil for the one all editors share."
  root name connection
  (session (atomic-session-create))
  ready waiting origin
  questions                             ; of the server itself, oldest first
  (tries 0)                             ; starts since the last acknowledgement
  stopping unsure                       ; intents without acknowledgement, (id command params accepted), newest first
  (intents (make-hash-table :test #'equal)))

(defvar atomic-client--all (make-hash-table :test #'equal)
  "The clients by root and name.")

(defvar atomic-client--count 0
  "How many intents there were.")

(defun atomic-client-list ()
  "All clients."
  (hash-table-values atomic-client--all))

(defun atomic-client-for (root &optional name)
  "The client of the session NAME of the project at ROOT.
Without NAME that of the session which all editors share.  It is perhaps
not started yet."
  (let* ((root (file-name-as-directory (expand-file-name root)))
         (key (cons root name)))
    (or (gethash key atomic-client--all)
        (puthash key (atomic-client--create :root root :name name) atomic-client--all))))

(defun atomic-client-label (client)
  "The name of CLIENT's session, for a person."
  (let ((folder (abbreviate-file-name (directory-file-name (atomic-client-root client)))))
    (if (atomic-client-name client)
        (format "%s [%s]" folder (atomic-client-name client))
      folder)))

(defun atomic-client-live-p (client)
  "Whether the server of CLIENT is alive."
  (atomic-wire-live-p (atomic-client-connection client)))

(defun atomic-client--tell (client what)
  "Run `atomic-client-update-functions' with CLIENT and WHAT."
  (run-hook-wrapped 'atomic-client-update-functions
                    (lambda (listener)
                      (with-demoted-errors "Atomic: %S" (funcall listener client what))
                      nil)))

(defun atomic-client--ready (client failure)
  "Tell all who wait for CLIENT that it is there, or FAILURE."
  (let ((waiting (nreverse (atomic-client-waiting client))))
    (setf (atomic-client-waiting client) nil)
    (dolist (callback waiting)
      (funcall callback failure))))

;;;; What comes

(defun atomic-client--acknowledge (client intent failure)
  "Tell once who sent INTENT to CLIENT that it was accepted, or FAILURE."
  (when (memq intent (atomic-client-unsure client))
    (setf (atomic-client-unsure client) (delq intent (atomic-client-unsure client)))
    (funcall (nth 3 intent) failure)))

(defun atomic-client--settle (client fact)
  "Tell who sent an intent to CLIENT what came of it, according to FACT."
  (let* ((intents (atomic-client-intents client))
         (settled (gethash (plist-get fact :intent) intents)))
    (when settled
      ;; What came of it may be here before the answer that it was accepted.
      (when-let* ((intent (assoc (plist-get fact :intent) (atomic-client-unsure client))))
        (atomic-client--acknowledge client intent nil))
      (remhash (plist-get fact :intent) intents)
      (funcall settled fact))))

(defun atomic-client--settle-all (client sentence)
  "Say of all intents of CLIENT that nobody knows their outcome: SENTENCE."
  (pcase-dolist (`(,_id ,_command ,_params ,accepted) (prog1 (atomic-client-unsure client)
                                                        (setf (atomic-client-unsure client) nil)))
    (funcall accepted sentence))
  (dolist (id (hash-table-keys (atomic-client-intents client)))
    (atomic-client--settle client (list :type "intent_settled" :intent id :outcome "unknown" :error sentence))))

(defun atomic-client--take (client answer)
  "Set CLIENT's session to ANSWER of `atomic/attach' or `atomic/resync'."
  (if-let* ((snapshot (plist-get answer :snapshot)))
      (progn
        (setf (atomic-client-session client)
              (atomic-session-begin (plist-get answer :session) (plist-get answer :epoch)
                                    (plist-get answer :seq) snapshot))
        (atomic-client--tell client 'reset)
        ;; What was settled while nobody here saw it.
        (seq-do (lambda (intent)
                  (when (plist-get intent :outcome) (atomic-client--settle client intent)))
                (plist-get snapshot :intents)))
    (let ((session (atomic-client-session client)))
      (setf (atomic-session-name session) (plist-get answer :session)
            (atomic-session-epoch session) (plist-get answer :epoch)
            (atomic-session-seq session) (plist-get answer :seq))
      (atomic-client--tell client nil))))

(defun atomic-client--events (client batch)
  "Fold BATCH of `atomic/events' into CLIENT's session, and tell it once."
  (let ((session (atomic-client-session client))
        ;; A long message makes much garbage at once: it is collected once, when the batch is over.
        (gc-cons-threshold (max gc-cons-threshold (* 32 1024 1024)))
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
    ('window/showMessage (atomic-client-complain (plist-get params :message)))))

(defun atomic-client--show-document (client params)
  "Show the document that PARAMS of CLIENT's server name, in another window."
  (let ((uri (plist-get params :uri)))
    ;; After the answer was sent: a file may ask the person something, a browser may be slow to start.
    (run-at-time 0 nil
                 (lambda ()
                   (if (atomic-session-true-p (plist-get params :external))
                       (condition-case nil
                           (browse-url uri)
                         (error (atomic-client-complain (format "open %s in a browser" uri))))
                     (display-buffer (find-file-noselect (atomic-wire-path uri (atomic-client-root client)))))))
    (list :success t)))

(defun atomic-client--asked (client method params)
  "Answer the request METHOD with PARAMS of CLIENT's server at once.
A question (`atomic/dialog') is postponed, never refused: that of the agent
is a fact besides, that of the server is kept here, and both are answered
by a command when the person wants to."
  (pcase method
    ('atomic/dialog
     (let ((dialog (plist-get params :dialog)))
       (when (string-prefix-p "local-" (plist-get dialog :id))
         (setf (atomic-client-questions client) (append (atomic-client-questions client) (list dialog)))
         (atomic-client--tell client 'asked)))
     nil)
    ('window/showDocument (atomic-client--show-document client params))
    ((or 'window/showMessageRequest 'client/registerCapability 'client/unregisterCapability
         'window/workDoneProgress/create)
     nil)
    (_ (jsonrpc-error :code -32601 :message (format "%s is not known here." method)))))

;;;; What goes

(defun atomic-client-complain (sentence)
  "Show SENTENCE to the person."
  (message "Atomic: %s" sentence))

(defun atomic-client--send (client intent)
  "Send INTENT, (id command params accepted), to CLIENT's session.
It stays unsure until it was acknowledged."
  (pcase-let ((`(,id ,command ,params . ,_) intent))
    (atomic-wire-request
     (atomic-client-connection client) :atomic/intent
     (list :id id :command command :params (or params (make-hash-table)))
     (lambda (failure _)
       ;; Without a server that is no answer: it is sent again when there is one.
       (when (or (not failure) (atomic-client-live-p client))
         (if failure
             (remhash id (atomic-client-intents client))
           (setf (atomic-client-tries client) 0))
         (atomic-client--acknowledge client intent failure))))))

;;;; Beginning and end

(defun atomic-client--ended (client connection)
  "The server of CLIENT behind CONNECTION ended."
  (when (eq connection (atomic-client-connection client))
    (let ((sentence "The language server ended; the next command starts it again.")
          (again (and (atomic-client-ready client)
                      (not (atomic-client-stopping client))
                      (< (atomic-client-tries client) 3)
                      (or (atomic-client-unsure client)
                          (> (hash-table-count (atomic-client-intents client)) 0)))))
      (setf (atomic-client-connection client) nil
            (atomic-client-ready client) nil
            (atomic-client-stopping client) nil
            (atomic-client-questions client) nil)
      (atomic-client--ready client sentence)
      (atomic-client--tell client 'gone)
      (if again
          (atomic-client-ensure client (lambda (failure)
                                         (when failure (atomic-client--settle-all client failure))))
        (atomic-client--settle-all client sentence)))))

(defun atomic-client--options (client)
  "The initialization options of CLIENT."
  (append (list :client (list :name "Emacs" :version emacs-version :events t :dialogs t
                              :flushesPerSecond atomic-flushes-per-second))
          (when (atomic-client-name client) (list :session (atomic-client-name client)))
          (default-value 'atomic-settings)))

(defun atomic-client--attach (client)
  "Let the events of CLIENT's session come, from where they stopped."
  (let* ((session (atomic-client-session client))
         (epoch (atomic-session-epoch session)))
    (atomic-wire-request
     (atomic-client-connection client) :atomic/attach
     (if epoch
         (list :cursor (list :epoch epoch :seq (atomic-session-seq session)))
       (make-hash-table))
     (lambda (failure answer)
       (unless failure
         (setf (atomic-client-ready client) t)
         (atomic-client--take client answer))
       (atomic-client--ready client failure)
       (unless failure
         (mapc (lambda (unsure) (atomic-client--send client unsure))
               (reverse (atomic-client-unsure client))))))))

(defun atomic-client--start (client)
  "Start the server of CLIENT."
  (let ((root (atomic-client-root client)))
    (cl-incf (atomic-client-tries client))
    (condition-case failure
        (progn
          (atomic-wire-check root)
          (setf (atomic-client-connection client)
                (atomic-wire-open
                 (format "atomic %s" (atomic-client-label client)) root
                 :notified (lambda (method params) (atomic-client--notified client method params))
                 :asked (lambda (method params) (atomic-client--asked client method params))
                 :ended (lambda (connection) (atomic-client--ended client connection))))
          (atomic-wire-request
           (atomic-client-connection client) :initialize
           (list :processId (unless (file-remote-p root) (emacs-pid))
                 :rootUri (atomic-wire-uri root)
                 :capabilities '(:window (:showDocument (:support t)))
                 :clientInfo (list :name "Emacs" :version emacs-version)
                 :initializationOptions (atomic-client--options client))
           (lambda (failure _)
             (if failure
                 (atomic-client--ready client failure)
               (atomic-wire-notify (atomic-client-connection client) :initialized (make-hash-table))
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

(defun atomic-client-stop (client)
  "End the server of CLIENT; the session stays in the hub."
  (when (atomic-client-live-p client)
    (setf (atomic-client-stopping client) t)
    (atomic-wire-end (atomic-client-connection client))))

(provide 'atomic-client)
;;; atomic-client.el ends here

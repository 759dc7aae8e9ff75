;;; atomic-complete.el --- Completion in a prompt  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Commands, files and arguments as the server completes them.  Guarantees: a key ends every wait; a server that does not run is not
;; started; without an answer nothing is offered and other completions have their turn.
;; Must not know: what can be completed besides.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-client)

(defcustom atomic-completion-seconds 1.5
  "How long completion waits for the server, unless a key ends it."
  :type 'number
  :group 'atomic)

(defvar-local atomic-complete-client nil "The client whose server completes in this buffer.")
(defvar-local atomic-complete--document nil "The connection that knows this buffer, its URI, version and text.")

(defvar atomic-complete--count 0 "How many documents there were.")

;;;; The document, as the server knows it

(defun atomic-complete--close ()
  "Tell the server that this buffer is gone."
  (pcase-let ((`(,connection ,uri . ,_) atomic-complete--document))
    (when connection
      (atomic-wire-notify connection :textDocument/didClose (list :textDocument (list :uri uri))))
    (setq atomic-complete--document nil)))

(defun atomic-complete--sync ()
  "Let the server know the text of this buffer; return the URI or nil."
  (when-let* ((client atomic-complete-client)
              (connection (and (atomic-client-ready client) (atomic-client-connection client)))
              ((atomic-wire-live-p connection)))
    (let ((text (buffer-substring-no-properties (point-min) (point-max))))
      (pcase atomic-complete--document
        (`(,(pred (eq connection)) ,uri ,version ,known)
         (unless (equal known text)
           (setq atomic-complete--document (list connection uri (1+ version) text))
           (atomic-wire-notify connection :textDocument/didChange
                               (list :textDocument (list :uri uri :version (1+ version))
                                     :contentChanges (vector (list :text text)))))
         uri)
        (_
         (let ((uri (format "untitled:atomic-prompt-%d" (cl-incf atomic-complete--count))))
           (setq atomic-complete--document (list connection uri 1 text))
           (atomic-wire-notify connection :textDocument/didOpen
                               (list :textDocument (list :uri uri :languageId "atomic-prompt"
                                                         :version 1 :text text)))
           uri))))))

(defun atomic-complete--units (start end)
  "How many units of UTF-16 the text from START to END has."
  (/ (length (encode-coding-string (buffer-substring-no-properties start end) 'utf-16le)) 2))

(defun atomic-complete--position ()
  "The place of point, as the server counts."
  (list :line (1- (line-number-at-pos nil t))
        :character (atomic-complete--units (line-beginning-position) (point))))

(defun atomic-complete--point (position)
  "The place that POSITION of the server means."
  (save-excursion
    (goto-char (point-min))
    (forward-line (plist-get position :line))
    (let ((left (plist-get position :character)))
      (while (and (> left 0) (not (eolp)))
        (cl-decf left (if (> (char-after) #xffff) 2 1))
        (forward-char 1))
      (point))))

;;;; Completion

(defun atomic-complete--start ()
  "Where the word at point begins if it is one that the server completes."
  (let* ((line (line-beginning-position))
         (word (save-excursion (skip-chars-backward "^ \t\n") (point)))
         (quoted (save-excursion
                   (and (re-search-backward "@\"[^\"\n]*\\=" line t) (point)))))
    (cond (quoted quoted)
          ((memq (char-after word) '(?/ ?@ ?#)) word)
          ((and (= line (point-min)) (eq (char-after line) ?/)) word))))

(defun atomic-complete--text (item start)
  "What ITEM puts in place of the text from START to point."
  (let* ((edit (plist-get item :textEdit))
         (range (or (plist-get edit :range) (plist-get edit :replace)))
         (text (or (plist-get edit :newText) (plist-get item :insertText) (plist-get item :label)))
         (from (and range (atomic-complete--point (plist-get range :start)))))
    (if (and from (> from start))
        (concat (buffer-substring-no-properties start from) text)
      text)))

(defun atomic-complete--items (start)
  "Completions of the text from START, as pairs of a text and an item."
  (when-let* ((uri (atomic-complete--sync)))
    (let ((answer (atomic-wire-wait (atomic-client-connection atomic-complete-client)
                                    :textDocument/completion
                                    (list :textDocument (list :uri uri) :position (atomic-complete--position))
                                    atomic-completion-seconds)))
      (mapcar (lambda (item) (cons (atomic-complete--text item start) item))
              (if (vectorp answer) answer (plist-get answer :items))))))

(defun atomic-complete--annotation (items)
  "A function from a text of ITEMS to the words behind it."
  (lambda (text)
    (when-let* ((detail (plist-get (cdr (assoc text items)) :detail)))
      (concat "  " (string-replace "\n" " " detail)))))

(defun atomic-complete-at-point ()
  "Complete a command, a file or an argument; for `completion-at-point-functions'."
  (when-let* ((start (atomic-complete--start)))
    (let* ((end (point))
           (items 'unknown)
           (buffer (current-buffer))
           (fetch (lambda ()
                    (when (eq items 'unknown)
                      (setq items (with-current-buffer buffer (atomic-complete--items start))))
                    items)))
      (list start end
            (lambda (text predicate action)
              (if (eq action 'metadata)
                  '(metadata (display-sort-function . identity) (category . atomic-prompt))
                (complete-with-action action (funcall fetch) text predicate)))
            :exclusive 'no
            :annotation-function (lambda (text) (funcall (atomic-complete--annotation (funcall fetch)) text))))))

(defun atomic-complete-begin ()
  "Let this buffer be completed by the server."
  ;; Without the words of Text mode, whose completion fails where no word list is installed.
  (setq-local completion-at-point-functions (list #'atomic-complete-at-point t))
  (add-hook 'kill-buffer-hook #'atomic-complete--close nil t)
  (setq-local completion-styles '(basic flex)))

(provide 'atomic-complete)
;;; atomic-complete.el ends here

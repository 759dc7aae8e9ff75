;;; atomic-tree.el --- The branches of a session  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: a tree as deep as the session is long needs no deep recursion; the branch that is active is marked.
;; Must not know: how a transcript is shown.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-command)
(require 'atomic-content)
(require 'atomic-entry)
(require 'atomic-intent)
(require 'atomic-prompt)

(defvar-local atomic-tree--client nil "The client that this tree is of.")

(defvar-keymap atomic-tree-mode-map
  :doc "Keys of the tree of a session."
  :parent special-mode-map
  "RET" #'atomic-tree-go
  "f" #'atomic-tree-fork
  "l" #'atomic-tree-label
  "n" #'next-line
  "p" #'previous-line)

(define-derived-mode atomic-tree-mode special-mode "Atomic-Tree"
  "Major mode of the tree of a session."
  (setq-local truncate-lines t)
  (setq-local revert-buffer-function (lambda (&rest _) (atomic-tree--fetch (current-buffer))))
  (hl-line-mode 1))

(defun atomic-tree--words (entry)
  "What ENTRY of a session is, in one line, or nil if it is of no interest."
  (pcase (plist-get entry :type)
    ("message"
     (let* ((message (plist-get entry :message))
            (text (atomic-entry-one-line (atomic-content-text (plist-get message :content)) 90)))
       (pcase (plist-get message :role)
         ("user" (propertize (concat "You: " text) 'face 'atomic-user))
         ("assistant" (concat "· " (if (string-empty-p text) "(tools)" text))))))
    ("compaction" "— compacted —")
    ("branch_summary" (concat "— " (atomic-entry-one-line (format "%s" (plist-get entry :summary)) 90)))))

(defun atomic-tree--lines (roots leaf)
  "The lines of the tree with ROOTS, whose active entry is LEAF.
Each is a list of a depth, a text, an entry and whether it is the leaf."
  (let ((stack (mapcar (lambda (node) (cons 0 node)) (append roots nil)))
        lines)
    (while stack
      (pcase-let* ((`(,depth . ,node) (pop stack))
                   (entry (plist-get node :entry))
                   (children (append (plist-get node :children) nil))
                   (words (atomic-tree--words entry))
                   (active (equal (plist-get entry :id) leaf))
                   (label (plist-get node :label))
                   (deeper (if (cdr children) (1+ depth) depth)))
        (when (or words active)
          (push (list depth (concat (or words (plist-get entry :type))
                                    (if (stringp label) (format " [%s]" label) ""))
                      entry active)
                lines))
        (setq stack (nconc (mapcar (lambda (child) (cons deeper child)) children) stack))))
    (nreverse lines)))

(defun atomic-tree--show (data)
  "Show DATA, the answer to `get_tree', in the current buffer."
  (let ((inhibit-read-only t)
        (line (line-number-at-pos)))
    (erase-buffer)
    (pcase-dolist (`(,depth ,text ,entry ,active) (atomic-tree--lines (plist-get data :tree) (plist-get data :leafId)))
      (insert (propertize (concat (if active "▶ " "  ") (make-string (* 2 depth) ?\s) text "\n")
                          'atomic-tree-entry entry)))
    (when (bobp) (insert "The session has no message yet.\n"))
    (goto-char (point-min))
    (forward-line (1- line))))

(defun atomic-tree--fetch (buffer)
  "Read the tree in BUFFER again."
  (atomic-intent-read (buffer-local-value 'atomic-tree--client buffer) "atomic.getTree" nil
                      (lambda (failure data)
                        (cond (failure (atomic-client-complain failure))
                              ((buffer-live-p buffer)
                               (with-current-buffer buffer (atomic-tree--show data)))))))

(defun atomic-tree-list (client)
  "Show the tree of CLIENT's session."
  (let ((buffer (get-buffer-create (format "*atomic tree: %s*" (atomic-client-label client)))))
    (with-current-buffer buffer
      (atomic-tree-mode)
      (setq atomic-tree--client client
            default-directory (atomic-client-root client))
      (atomic-tree--fetch buffer))
    (pop-to-buffer buffer)))

(defun atomic-tree--entry ()
  "The entry at point."
  (or (get-text-property (point) 'atomic-tree-entry) (user-error "There is no entry here")))

(defun atomic-tree--back (client)
  "What puts a text that the agent gives back into the prompt of CLIENT."
  (lambda (data)
    (let ((text (or (plist-get data :editorText) (plist-get data :text))))
      (when (and (stringp text) (not (string-blank-p text)))
        (atomic-prompt-add client text)))))

(defun atomic-tree-go ()
  "Go on from the entry at point, in the same session."
  (interactive nil atomic-tree-mode)
  (let ((buffer (current-buffer))
        (back (atomic-tree--back atomic-tree--client)))
    (atomic-command-run atomic-tree--client "atomic.navigateTree" (list :targetId (plist-get (atomic-tree--entry) :id))
                        (lambda (data)
                          (funcall back data)
                          (when (buffer-live-p buffer) (atomic-tree--fetch buffer))))))

(defun atomic-tree-fork ()
  "Begin a new session before the message at point."
  (interactive nil atomic-tree-mode)
  (atomic-command-run atomic-tree--client "atomic.fork" (list :entryId (plist-get (atomic-tree--entry) :id))
                      (atomic-tree--back atomic-tree--client)))

(defun atomic-tree-label (label)
  "Give the entry at point LABEL, or none if it is empty."
  (interactive "sLabel: " atomic-tree-mode)
  (let ((buffer (current-buffer)))
    (atomic-command-run atomic-tree--client "atomic.setLabel"
                        (append (list :entryId (plist-get (atomic-tree--entry) :id))
                                (unless (string-blank-p label) (list :label label)))
                        (lambda (_) (when (buffer-live-p buffer) (atomic-tree--fetch buffer))))))

(provide 'atomic-tree)
;;; atomic-tree.el ends here

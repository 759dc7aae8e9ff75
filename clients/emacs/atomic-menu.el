;;; atomic-menu.el --- A menu over everything  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: whatever the command table has is in the menu, in the group that the table says, under a key that is the same each
;; time; the menu needs no change for a new command.
;; Must not know: what any command does.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'transient)
(require 'atomic)
(require 'atomic-command)
(require 'atomic-lsp-commands)

(defun atomic-menu-groups ()
  "The groups of the command table, in its order."
  (seq-uniq (mapcar (lambda (row) (plist-get (cdr row) :group)) atomic-lsp-commands)))

(defun atomic-menu-rows (group)
  "The commands of GROUP."
  (seq-filter (lambda (row) (equal (plist-get (cdr row) :group) group)) atomic-lsp-commands))

(defun atomic-menu-keys (titles taken)
  "A key for each of TITLES, none of TAKEN: a letter of it if one is free."
  (mapcar (lambda (title)
            (let ((key (or (cl-loop for char across (concat (downcase title) (upcase title)
                                                            "abcdefghijklmnopqrstuvwxyz0123456789")
                                    for key = (char-to-string char)
                                    if (and (string-match-p "\\`[[:alnum:]]\\'" key) (< char 128)
                                            (not (member key taken)))
                                    return key)
                           "?")))
              (push key taken)
              key))
          titles))

(defun atomic-menu--children (prefix specifications)
  "SPECIFICATIONS as children of PREFIX."
  (transient-parse-suffixes prefix specifications))

(defvar atomic-menu--group nil "The group whose menu is open.")

(transient-define-prefix atomic-menu-group ()
  "The commands of one group."
  [:description
   (lambda () atomic-menu--group)
   :class transient-column
   :setup-children
   (lambda (_)
     (let ((rows (atomic-menu-rows atomic-menu--group)))
       (atomic-menu--children
        'atomic-menu-group
        (cl-mapcar (lambda (row key)
                     (list key (plist-get (cdr row) :title)
                           (lambda () (interactive) (atomic-command (car row)))))
                   rows
                   (atomic-menu-keys (mapcar (lambda (row) (plist-get (cdr row) :title)) rows) '("q"))))))])

(defun atomic-menu--open (group)
  "What opens the menu of GROUP."
  (lambda ()
    (interactive)
    (setq atomic-menu--group group)
    (transient-setup 'atomic-menu-group)))

(transient-define-prefix atomic-menu ()
  "Everything that can be done with the agent."
  [["Talk"
    ("RET" "Chat and prompt" atomic)
    ("." "Steer" atomic-steer)
    (">" "Follow up" atomic-follow-up)
    ("!" "Stop" atomic-stop)
    ("=" "Queue" atomic-queue)]
   ["Code"
    ("+" "Region" atomic-prompt-region)
    ("(" "Function" atomic-prompt-defun)
    ("*" "Diagnostics" atomic-prompt-fix-diagnostics)
    ("/" "Changed files" atomic-changes)]
   ["Sessions"
    ("-" "List" atomic-sessions)
    ("^" "Tree" atomic-tree)
    ("~" "Fork" atomic-fork)
    ("&" "Another one" atomic-new-tab)]
   ["Waiting"
    ("," "Next question" atomic-next-attention)
    (";" "All questions" atomic-attention-list)]]
  [:description "All commands"
   :class transient-column
   :setup-children
   (lambda (_)
     (let ((groups (atomic-menu-groups)))
       (atomic-menu--children
        'atomic-menu
        (cl-mapcar (lambda (group key) (list key group (atomic-menu--open group)))
                   groups (atomic-menu-keys groups '("q"))))))])

(provide 'atomic-menu)
;;; atomic-menu.el ends here

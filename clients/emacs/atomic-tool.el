;;; atomic-tool.el --- Tool calls in a transcript  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: a running tool shows the tail of its output, a finished one its result, a diff in the faces of diff-mode.
;; Must not know: sessions, facts, windows.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'subr-x)
(require 'atomic-content)
(require 'atomic-entry)
(require 'atomic-markup)

(defvar-local atomic-tool--entries nil "The entries of tool calls, by their id.")
(defvar-local atomic-tool--asked nil "Tool calls as they were last shown, by their id.")

(defun atomic-tool--argument (args)
  "What stands in ARGS of a tool call, in short."
  (let ((known (cl-loop for key in '(:command :path :file_path :pattern :query :url)
                        for value = (plist-get args key)
                        if (stringp value) return value)))
    (cond (known known)
          ((consp args) (mapconcat (lambda (pair) (format "%s: %s" (substring (symbol-name (car pair)) 1) (cadr pair)))
                                   (seq-partition args 2) ", "))
          (t ""))))

(defun atomic-tool--text (tool)
  "The text of TOOL: a diff, else the result, else the tail of the output."
  (let* ((result (plist-get tool :result))
         (diff (plist-get (plist-get result :details) :diff))
         (said (atomic-content-text (plist-get result :content)))
         (done (member (plist-get tool :status) '("done" "failed")))
         (text (cond ((stringp diff) diff)
                     ((string-empty-p said) (or (plist-get tool :output) ""))
                     (t said)))
         (lines (split-string (string-trim-right (atomic-entry-clean text) "\n+") "\n"))
         (shown (if done atomic-tool-lines atomic-tool-tail-lines))
         (extra (- (length lines) shown)))
    (when (> extra 0)
      (setq lines (cons (format "… %d lines before" extra) (nthcdr extra lines))))
    (setq lines (mapcar #'atomic-tool--cut lines))
    (string-join (if (stringp diff) (mapcar #'atomic-tool--diff-line lines) lines) "\n")))

(defconst atomic-tool--width 2000
  "How much of a line is shown; Emacs is slow with longer ones.")

(defun atomic-tool--cut (line)
  "LINE, or its beginning if it is very long."
  (if (<= (length line) atomic-tool--width)
      line
    (format "%s… (%d characters)" (substring line 0 atomic-tool--width) (length line))))

(defun atomic-tool--diff-line (line)
  "LINE of a diff, in its face."
  (let ((face (pcase (and (> (length line) 0) (aref line 0))
                (?+ 'diff-added)
                (?- 'diff-removed)
                (?@ 'diff-hunk-header))))
    (if face (propertize line 'font-lock-face face) line)))

(defun atomic-tool--head (tool)
  "The head of TOOL."
  (let ((time (plist-get tool :durationMs)))
    (concat "▸ " (or (plist-get tool :toolName) "tool") " "
            (atomic-entry-one-line (atomic-tool--argument (plist-get tool :args)) 100)
            (pcase (plist-get tool :status)
              ("running" " …") ("done" " ✓") ("failed" " ✗") (_ ""))
            (if (numberp time) (format " %.1f s" (/ time 1000.0)) ""))))

(defun atomic-tool--place (entry tool)
  "Make a button of the file that TOOL names in the head of ENTRY."
  (let ((path (or (plist-get (plist-get tool :args) :path) (plist-get (plist-get tool :args) :file_path))))
    (when (stringp path)
      (save-excursion
        (goto-char (atomic-entry-start entry))
        (let ((shown (atomic-entry-one-line path 100)))
          (when (search-forward shown (1- (atomic-entry-body entry)) t)
            (atomic-markup-button (- (point) (length shown)) (point)
                                  (concat (file-remote-p default-directory)
                                          (file-local-name (expand-file-name path))))))))))

(defun atomic-tool-show (tool)
  "Show TOOL as it is now."
  (let* ((id (plist-get tool :toolCallId))
         (entry (gethash id atomic-tool--entries))
         (done (member (plist-get tool :status) '("done" "failed")))
         (face (if (equal (plist-get tool :status) "failed") 'atomic-failure 'atomic-tool))
         (fresh (null entry))
         (before (plist-get (gethash id atomic-tool--asked) :status)))
    (puthash id (list :status (plist-get tool :status) :args (plist-get tool :args)) atomic-tool--asked)
    (if fresh
        (setq entry (puthash id (atomic-entry-append 'tool (atomic-tool--head tool) face
                                                       (atomic-tool--text tool))
                             atomic-tool--entries))
      (atomic-entry-replace entry (atomic-tool--head tool) face (atomic-tool--text tool)))
    (atomic-tool--place entry tool)
    (when (and done (or fresh (not (member before '("done" "failed")))))
      (atomic-entry-fold-if-wanted entry))))

(defun atomic-tool-forget ()
  "Begin anew in the current buffer."
  (setq atomic-tool--entries (make-hash-table :test #'equal)
        atomic-tool--asked (make-hash-table :test #'equal)))

(defun atomic-tool-arguments (id)
  "The arguments of the tool call ID as they were last shown."
  (plist-get (gethash id atomic-tool--asked) :args))

(provide 'atomic-tool)
;;; atomic-tool.el ends here

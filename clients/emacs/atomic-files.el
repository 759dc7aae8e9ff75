;;; atomic-files.el --- Files that the agent changed  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: a buffer whose file a tool wrote shows what the file holds, with its point, its marks and its undo; one with unsaved
;; changes is never touched and is named once.
;; Must not know: how changes are listed and taken back.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-client)

(defcustom atomic-revert-buffers t
  "Whether buffers of files that the agent changed are read again.
Those with unsaved changes never are."
  :type 'boolean
  :group 'atomic)

(defvar-local atomic-files--warned nil "The time of the file that the person was told of.")

(defun atomic-files--revert (buffer)
  "Let BUFFER, which is not modified, show its file."
  (with-current-buffer buffer
    (let ((inhibit-message t)
          (windows (mapcar (lambda (window) (cons window (window-point window)))
                           (get-buffer-window-list buffer nil t))))
      (if (file-exists-p buffer-file-name)
          (let ((undo buffer-undo-list))
            (revert-buffer t t t)
            (when (and (null buffer-undo-list) (consp undo)) (setq buffer-undo-list undo)))
        (set-visited-file-modtime))
      (pcase-dolist (`(,window . ,point) windows)
        (set-window-point window (min point (point-max)))))))

(defun atomic-files--warn (buffer)
  "Say once that BUFFER is not saved and its file is another one now."
  (with-current-buffer buffer
    (let ((time (file-attribute-modification-time (file-attributes buffer-file-name))))
      (unless (equal time atomic-files--warned)
        (setq atomic-files--warned time)
        (message "Atomic: the agent changed %s, which has unsaved changes here; compare with M-x ediff-current-file"
                 (buffer-name buffer))))))

(defun atomic-files-look (buffer &optional touched)
  "Look whether the file of BUFFER is another one now.
TOUCHED says that a tool wrote it, which a clock of whole seconds, as that
of another host, may not show."
  (when (and (buffer-live-p buffer) (buffer-file-name buffer))
    (let ((remote-file-name-inhibit-cache t))
      (when (or (not (verify-visited-file-modtime buffer))
                (and touched (file-remote-p (buffer-file-name buffer))))
        (if (buffer-modified-p buffer)
            (atomic-files--warn buffer)
          (with-demoted-errors "Atomic: %S" (atomic-files--revert buffer)))))))

(defun atomic-files--buffers (client)
  "Buffers of files in the project of CLIENT."
  (let ((root (atomic-client-root client)))
    (seq-filter (lambda (buffer)
                  (let ((file (buffer-file-name buffer)))
                    (and file (string-prefix-p root (expand-file-name file)))))
                (buffer-list))))

(defun atomic-files--update (client what)
  "Look after the buffers of files that WHAT, facts of CLIENT, may have changed."
  (when (and atomic-revert-buffers (consp what))
    (let ((all nil) (buffers nil)
          (host (file-remote-p (atomic-client-root client))))
      (dolist (fact what)
        (pcase (plist-get fact :type)
          ("file_touched"
           (when-let* ((buffer (find-buffer-visiting (concat host (plist-get fact :path)))))
             (cl-pushnew buffer buffers)))
          ;; Whatever else ran may have written anything, a shell for one.  On another host that is asked once a run.
          ("tool_execution_end" (unless host (setq all t)))
          ("agent_settled" (setq all t))))
      (dolist (buffer buffers) (atomic-files-look buffer t))
      (when all (mapc #'atomic-files-look (atomic-files--buffers client))))))

(defun atomic-files-watch ()
  "Look after buffers from now on."
  (add-hook 'atomic-client-update-functions #'atomic-files--update))

(provide 'atomic-files)
;;; atomic-files.el ends here

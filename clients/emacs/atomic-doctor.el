;;; atomic-doctor.el --- What is there and what is not  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A report for a person in trouble: what this Emacs has, and what `atomic-lsp doctor' finds on the host of the project.
;; Guarantees: nothing waits; no secret is in the report that the server's own does not show.
;; Must not know: sessions.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'atomic-client)
(require 'atomic-header)

(defun atomic-doctor--command ()
  "The command line of the server's own report."
  (append (remove "--stdio" (default-value 'atomic-server-command)) '("doctor")))

(defun atomic-doctor--own ()
  "What this Emacs has, as text."
  (concat
   (format "Emacs %s, %s\n" emacs-version (if (display-graphic-p) "with windows" "in a terminal"))
   (format "markdown-mode: %s\n" (if (locate-library "markdown-mode") "installed" "not installed (light colours are used)"))
   (format "Images from the clipboard: %s\n"
           (cond ((display-graphic-p) "by Emacs")
                 ((cl-find-if (lambda (command) (executable-find (car command)))
                              (bound-and-true-p atomic-clipboard-commands))
                  "by a program")
                 (t "no program (wl-clipboard, xclip or pngpaste)")))
   (mapconcat (lambda (client)
                (format "Session of %s: %s\n" (atomic-client-label client) (atomic-header-phase client)))
              (atomic-client-list) "")
   "\n"))

(defun atomic-doctor-report (root)
  "Show the report for the project at ROOT."
  (let* ((default-directory root)
         (buffer (get-buffer-create "*atomic doctor*"))
         (write (lambda (text)
                  (when (buffer-live-p buffer)
                    (with-current-buffer buffer
                      (let ((inhibit-read-only t))
                        (save-excursion
                          (goto-char (point-max))
                          (insert text))))))))
    (with-current-buffer buffer
      (let ((inhibit-read-only t)) (erase-buffer))
      (special-mode)
      (setq default-directory root))
    (funcall write (atomic-doctor--own))
    (display-buffer buffer)
    (condition-case failure
        (progn
          (atomic-wire-check root)
          (make-process :name "atomic doctor" :command (atomic-doctor--command) :connection-type 'pipe
                        :noquery t :file-handler t
                        :filter (lambda (_process text) (funcall write text))
                        :sentinel (lambda (process _)
                                    (unless (process-live-p process)
                                      (funcall write "\nThat is all.\n")))))
      (error (funcall write (format "%s\n" (error-message-string failure)))))))

(provide 'atomic-doctor)
;;; atomic-doctor.el ends here

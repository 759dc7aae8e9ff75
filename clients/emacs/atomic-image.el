;;; atomic-image.el --- Images for a prompt  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: only what is an image by its first bytes and not too large is attached; nothing is asked of the system but when the
;; person pastes.
;; Must not know: how a prompt is sent.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defcustom atomic-image-limit (* 5 1024 1024)
  "The largest image that is sent, in bytes."
  :type 'natnum
  :group 'atomic)

(defcustom atomic-clipboard-commands
  '(("wl-paste" "--no-newline" "--type" "image/png")
    ("xclip" "-selection" "clipboard" "-target" "image/png" "-out")
    ("pngpaste" "-"))
  "Programs that write the image in the clipboard, for Emacs in a terminal.
The first that is installed is used."
  :type '(repeat (repeat string))
  :group 'atomic)

(defvar-local atomic-image-list nil "Images that go with the prompt of this buffer, oldest first.")

(defun atomic-image--type (bytes)
  "The MIME type of BYTES, or nil if they are no image that agents know."
  (cond ((string-prefix-p "\x89PNG\r\n\x1a\n" bytes) "image/png")
        ((string-prefix-p (unibyte-string #xff #xd8 #xff) bytes) "image/jpeg")
        ((string-match-p "\\`GIF8[79]a" bytes) "image/gif")
        ((string-match-p "\\`RIFF\\(?:.\\|\n\\)\\{4\\}WEBP" bytes) "image/webp")))

(defun atomic-image-add (bytes name)
  "Attach the image in BYTES, a unibyte text, called NAME."
  (let ((type (atomic-image--type bytes)))
    (cond ((not type) (user-error "%s is no PNG, JPEG, GIF or WebP image" name))
          ((> (length bytes) atomic-image-limit)
           (user-error "%s is too large (%s): make it smaller than %s, or raise `atomic-image-limit'" name
                       (file-size-human-readable (length bytes)) (file-size-human-readable atomic-image-limit))))
    (setq atomic-image-list
          (append atomic-image-list
                  (list (list :name name :type "image" :mimeType type :data (base64-encode-string bytes t)))))
    (force-mode-line-update)
    (message "%s goes with the prompt" name)))

(defun atomic-image-file (file)
  "Attach the image FILE to the prompt of this buffer."
  (interactive "fImage: ")
  (when (> (or (file-attribute-size (file-attributes file)) 0) (* 4 atomic-image-limit))
    (user-error "%s is too large" (file-name-nondirectory file)))
  (atomic-image-add (with-temp-buffer
                      (set-buffer-multibyte nil)
                      (insert-file-contents-literally file)
                      (buffer-string))
                    (file-name-nondirectory file)))

(defun atomic-image--yank (_type data)
  "Attach DATA, an image in the clipboard."
  (atomic-image-add (if (multibyte-string-p data) (encode-coding-string data 'raw-text) data) "the clipboard"))

(defun atomic-image--paste-by (command)
  "Attach the image that COMMAND writes, when it has written it."
  (let ((target (current-buffer))
        (output (generate-new-buffer " *atomic clipboard*")))
    (with-current-buffer output (set-buffer-multibyte nil))
    (make-process :name "atomic clipboard" :buffer output :command command :connection-type 'pipe
                  :coding 'binary :noquery t
                  :stderr (make-pipe-process :name "atomic clipboard errors" :buffer nil :noquery t
                                             :filter #'ignore :sentinel #'ignore)
                  :sentinel
                  (lambda (process _)
                    (unless (process-live-p process)
                      (let ((bytes (with-current-buffer output (buffer-string))))
                        (kill-buffer output)
                        (when (buffer-live-p target)
                          (with-current-buffer target
                            (if (string-empty-p bytes)
                                (message "Atomic: there is no image in the clipboard")
                              (condition-case failure
                                  (atomic-image-add bytes "the clipboard")
                                (user-error (message "Atomic: %s" (error-message-string failure)))))))))))))

(defun atomic-image-paste ()
  "Attach the image in the clipboard to the prompt of this buffer."
  (interactive)
  (let ((data (and (display-graphic-p)
                   (cl-some (lambda (type) (ignore-errors (gui-get-selection 'CLIPBOARD type)))
                            '(image/png image/jpeg image/gif image/webp))))
        (command (cl-find-if (lambda (command) (executable-find (car command))) atomic-clipboard-commands)))
    (cond (data (atomic-image--yank nil data))
          (command (atomic-image--paste-by command))
          (t (user-error "No program reads the clipboard: install wl-clipboard, xclip or pngpaste, or attach a file")))))

(defun atomic-image-drop ()
  "Take all images off the prompt of this buffer."
  (interactive)
  (setq atomic-image-list nil)
  (force-mode-line-update))

(defun atomic-image-watch ()
  "Let images be pasted into this buffer by \\[yank-media] and by dropping files."
  (when (fboundp 'yank-media-handler)
    (yank-media-handler "image/.*" #'atomic-image--yank)))

(defun atomic-image-words ()
  "The images of this buffer in words, or nil."
  (when atomic-image-list
    (format "%d image%s: %s" (length atomic-image-list) (if (cdr atomic-image-list) "s" "")
            (mapconcat (lambda (image) (plist-get image :name)) atomic-image-list ", "))))

(defun atomic-image-params ()
  "The parameter of a prompt for the images of this buffer, a plist or nil."
  (when atomic-image-list
    (list :images (vconcat (mapcar (lambda (image)
                                     (list :type "image" :data (plist-get image :data)
                                           :mimeType (plist-get image :mimeType)))
                                   atomic-image-list)))))

(provide 'atomic-image)
;;; atomic-image.el ends here

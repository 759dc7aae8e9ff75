;;; atomic-content.el --- The text of messages and blocks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: text, whatever the form of the content.  Must not know: sessions, buffers.

;;; Code:

(require 'cl-lib)

(defun atomic-content-of-block (block)
  "The text of BLOCK, one of a message in flight."
  (let ((pieces (plist-get block :pieces)))
    (if (cdr pieces)
        (let ((text (apply #'concat (reverse pieces))))
          (plist-put block :pieces (list text))
          text)
      (or (car pieces) ""))))

(defun atomic-content-text (content)
  "The text in CONTENT of a message or a tool's result."
  (cond ((stringp content) content)
        ((vectorp content)
         (mapconcat #'identity
                    (cl-loop for block across content
                             for text = (and (consp block) (plist-get block :text))
                             if (stringp text) collect text
                             else if (and (consp block) (equal (plist-get block :type) "image")) collect "(an image)")
                    "\n"))
        (t "")))

(provide 'atomic-content)
;;; atomic-content.el ends here

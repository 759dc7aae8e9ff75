;;; atomic-markup.el --- Markdown and places in a transcript  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: while a text streams only light keywords are at work; a complete text is made pretty once, when it is first seen, by
;; markdown-mode where it is installed, in a buffer of its own, which is why an unclosed fence ends with its text; what is too long
;; stays plain.
;; Must not know: sessions, windows.

;;; Code:

(require 'cl-lib)
(require 'button)
(require 'subr-x)
(require 'atomic-entry)

(declare-function gfm-mode "ext:markdown-mode")
(defvar markdown-fontify-code-blocks-natively)

(defcustom atomic-markdown-limit 65536
  "A longer answer keeps its light colours, in characters."
  :type 'natnum
  :group 'atomic)

(defcustom atomic-code-modes '(("sh" . sh-mode) ("bash" . sh-mode) ("shell" . sh-mode) ("js" . js-mode)
                               ("javascript" . js-mode) ("json" . js-json-mode) ("py" . python-mode)
                               ("elisp" . emacs-lisp-mode) ("lisp" . lisp-mode) ("c" . c-mode) ("cpp" . c++-mode)
                               ("html" . mhtml-mode) ("diff" . diff-mode) ("patch" . diff-mode))
  "Modes that colour code blocks, by the word after the fence.
For another word NAME it is NAME-mode, if there is one."
  :type '(alist :key-type string :value-type function)
  :group 'atomic)

;;;; While it streams

(defun atomic-markup--matcher (pattern)
  "A matcher of PATTERN in texts of the model that are not made pretty yet."
  (lambda (limit)
    (let (found)
      (while (and (not found) (re-search-forward pattern limit t))
        (let ((entry (get-text-property (match-beginning 0) 'atomic-entry)))
          (setq found (and entry (eq (atomic-entry-kind entry) 'text)
                           (not (get-text-property (match-beginning 0) 'atomic-pretty))))))
      found)))

(defconst atomic-markup-keywords
  (cons
   '(atomic-markup--prettify)
   (mapcar (lambda (keyword)
             (cons (atomic-markup--matcher (car keyword)) (cdr keyword)))
           '(("^#+ .*$" (0 'outline-1 prepend))
            ("^```.*$" (0 'font-lock-comment-face prepend))
            ("`[^`\n]+`" (0 'font-lock-constant-face prepend))
            ("\\*\\*[^*\n]+\\*\\*" (0 'bold prepend))
            ("^ *\\(?:[-*+]\\|[0-9]+\\.\\) " (0 'font-lock-builtin-face prepend)))))
  "A light fontification of Markdown.")

;;;; When it is complete

(defun atomic-markup--copy-faces (text mode)
  "TEXT with the faces that MODE gives it."
  (with-temp-buffer
    (let ((inhibit-message t)
          (message-log-max nil)
          (markdown-fontify-code-blocks-natively t))
      ;; A first line like "Done: so" would be taken for metadata.
      (insert "\n" (substring-no-properties text))
      (delay-mode-hooks (funcall mode))
      (font-lock-ensure)
      (let ((at (point-min)) faces)
        (while (< at (point-max))
          (let ((next (next-single-property-change at 'face nil (point-max)))
                (face (get-text-property at 'face)))
            (when face (push (list (- at 2) (- next 2) face) faces))
            (setq at next)))
        faces))))

(defun atomic-markup--paint (start end mode)
  "Give the text from START to END the faces of MODE."
  (pcase-dolist (`(,from ,to ,face) (ignore-errors (atomic-markup--copy-faces (buffer-substring start end) mode)))
    (put-text-property (+ start from) (+ start to) 'font-lock-face face)))

(defun atomic-markup--code-mode (word)
  "The mode for code whose fence has WORD, or nil."
  (let ((mode (or (cdr (assoc (downcase word) atomic-code-modes))
                  (intern-soft (concat (downcase word) "-mode")))))
    (and (functionp mode) mode)))

(defun atomic-markup--paint-code (start end)
  "Colour the code blocks between START and END."
  (save-excursion
    (goto-char start)
    (while (re-search-forward "^```\\([[:alnum:]+#-]+\\)[^\n]*\n" end t)
      (let ((mode (atomic-markup--code-mode (match-string 1)))
            (from (point)))
        (when (re-search-forward "^```[ \t]*$" end 'move)
          (when mode (atomic-markup--paint from (line-beginning-position) mode))
          (put-text-property from (line-beginning-position) 'atomic-pretty t))))))

(defun atomic-markup-text (start end)
  "Make the Markdown from START to END, which is complete, pretty."
  (when (<= (- end start) atomic-markdown-limit)
    (if (not (require 'markdown-mode nil t))
        (atomic-markup--paint-code start end)
      (atomic-markup--paint start end #'gfm-mode)
      (put-text-property start end 'atomic-pretty t))))

(defun atomic-markup-complete (start end)
  "Let the Markdown from START to END, which is complete, be pretty when seen."
  (when (< start end)
    (put-text-property start end 'atomic-complete 'new)
    (font-lock-flush start end)))

(defun atomic-markup--prettify (limit)
  "Make complete texts up to LIMIT pretty.
It is a matcher without a match."
  (save-excursion
    (let ((at (point)))
      (while (< at limit)
        (if (not (eq (get-text-property at 'atomic-complete) 'new))
            (setq at (next-single-property-change at 'atomic-complete nil limit))
          (let* ((entry (get-text-property at 'atomic-entry))
                 (start (marker-position (atomic-entry-body entry)))
                 (end (marker-position (atomic-entry-end entry))))
            (put-text-property start end 'atomic-complete 'pretty)
            (atomic-markup-text start end)
            (setq at (max (1+ at) end)))))))
  nil)

;;;; Places

(defun atomic-markup-visit (button)
  "Visit the place that BUTTON names, in another window."
  (let ((file (button-get button 'atomic-file))
        (line (button-get button 'atomic-line)))
    (find-file-other-window file)
    (when line
      (widen)
      (goto-char (point-min))
      (forward-line (1- line)))))

(define-button-type 'atomic-place
  'action #'atomic-markup-visit
  'follow-link t
  'help-echo "RET: visit this place")

(define-button-type 'atomic-address
  'action (lambda (button) (browse-url (button-get button 'atomic-address)))
  'follow-link t
  'help-echo "RET: open in the browser")

(defun atomic-markup-addresses (start end)
  "Make buttons of the addresses of pages from START to END."
  (when (<= (- end start) atomic-markdown-limit)
    (save-excursion
      (goto-char start)
      (while (re-search-forward "https?://[^][ \t\n\"'`<>(){}]*[^][ \t\n\"'`<>(){}.,;:!?]" end t)
        (make-text-button (match-beginning 0) (match-end 0) 'type 'atomic-address
                          'atomic-address (match-string-no-properties 0))))))

(defconst atomic-markup--place
  (concat "\\(?:^\\|[][ \t(\"'`@<]\\)"
          "\\(\\(?:~?/\\|\\.\\.?/\\)?[[:alnum:]_.+%-]+\\(?:/[[:alnum:]_.+%@-]+\\)*\\)"
          "\\(?::\\([0-9]+\\)\\(?:[-:][0-9]+\\)?\\)?")
  "A file, perhaps with a line.")

(defun atomic-markup--file (name)
  "The existing file NAME of the project, or nil."
  (when (and (string-search "." (file-name-nondirectory name))
             (not (string-match-p "\\`\\(?:[0-9.]+\\|\\.+\\)\\'" name)))
    (let ((file (if (and (file-remote-p default-directory) (file-name-absolute-p name))
                    (concat (file-remote-p default-directory) name)
                  (expand-file-name name))))
      (and (file-regular-p file) file))))

(defun atomic-markup-button (start end file &optional line)
  "Make the text from START to END a button that visits FILE at LINE."
  (make-text-button start end 'type 'atomic-place 'atomic-file file 'atomic-line line))

(defun atomic-markup-places (start end)
  "Make buttons of the places named from START to END."
  (unless (or (file-remote-p default-directory) (> (- end start) atomic-markdown-limit))
    (save-excursion
      (goto-char start)
      (let ((left 200))
        (while (and (> left 0) (re-search-forward atomic-markup--place end t))
          (let* ((from (match-beginning 1))
                 (to (match-end 0))
                 (line (and (match-string 2) (string-to-number (match-string 2))))
                 (name (string-trim-right (match-string-no-properties 1) "\\.+"))
                 (file (atomic-markup--file name)))
            (when file
              (atomic-markup-button from (if line to (+ from (length name))) file line)
              (cl-decf left))
            (goto-char to)))))))

(provide 'atomic-markup)
;;; atomic-markup.el ends here

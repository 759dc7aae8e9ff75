;;; atomic-entry.el --- The parts of a transcript  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: an entry knows its place; a fold is made anew with its text; escapes and control characters of the agent are gone.
;; An entry is followed by an empty line, which is why no insertion at its end moves into the next.
;; Must not know: sessions, facts, windows.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defcustom atomic-folded '(thinking tool)
  "Which parts of a transcript are folded when they are complete."
  :type '(set (const thinking) (const tool))
  :group 'atomic)

(defcustom atomic-tool-tail-lines 10
  "How many lines of a running tool's output are shown."
  :type 'natnum
  :group 'atomic)

(defcustom atomic-tool-lines 400
  "How many lines of a finished tool's output are kept in the transcript."
  :type 'natnum
  :group 'atomic)

(defface atomic-user '((t :inherit (bold font-lock-keyword-face)))
  "The head of what the person said."
  :group 'atomic)

(defface atomic-user-text '((t :inherit font-lock-string-face))
  "What the person said."
  :group 'atomic)

(defface atomic-thinking '((t :inherit font-lock-comment-face))
  "What the model thinks."
  :group 'atomic)

(defface atomic-tool '((t :inherit font-lock-function-name-face))
  "The head of a tool call."
  :group 'atomic)

(defface atomic-tool-output '((t :inherit shadow))
  "The output of a tool."
  :group 'atomic)

(defface atomic-note '((t :inherit font-lock-comment-face))
  "What the bridge or an extension says."
  :group 'atomic)

(defface atomic-failure '((t :inherit error))
  "What failed."
  :group 'atomic)

(cl-defstruct (atomic-render-entry (:constructor atomic-render-entry--create) (:copier nil))
  "A part of the transcript: the head from START, the text from BODY to END."
  kind start body end overlay folded)

(defun atomic-render-clean (text)
  "TEXT without escapes and control characters."
  (if (not (string-match-p "[\0-\b\v-\x1f\x7f]" text))
      text
    (thread-last text
                 (replace-regexp-in-string "\e\\[[0-9;:?<=>]*[ -/]*[@-~]\\|\e\\][^\a\e]*\\(?:\a\\|\e\\\\\\)" "")
                 (replace-regexp-in-string "[\0-\b\v-\x1f\x7f]" ""))))

(defun atomic-render-one-line (text &optional width)
  "TEXT in one line, at most WIDTH columns wide."
  (let ((line (string-trim (replace-regexp-in-string "[ \t\n]+" " " (atomic-render-clean text)))))
    (if width (truncate-string-to-width line width nil nil "…") line)))

(defun atomic-render--face (kind)
  "The face of the text of an entry of KIND."
  (pcase kind
    ('user 'atomic-user-text)
    ('thinking 'atomic-thinking)
    ('tool 'atomic-tool-output)
    ('note 'atomic-note)
    ('failure 'atomic-failure)))

(defun atomic-render--propertized (entry text)
  "TEXT as part of ENTRY."
  (let ((face (atomic-render--face (atomic-render-entry-kind entry))))
    (if face
        (propertize text 'atomic-entry entry 'font-lock-face face)
      (propertize text 'atomic-entry entry))))

(defun atomic-render--head (entry text face)
  "TEXT in FACE as the head of ENTRY, or nothing if TEXT is nil."
  (if text
      (concat (propertize text 'atomic-entry entry 'font-lock-face face
                          'atomic-turn (eq (atomic-render-entry-kind entry) 'user))
              (propertize "\n" 'atomic-entry entry))
    ""))

(defun atomic-render--cover (entry)
  "Make the fold of ENTRY anew, over its text and the line break before."
  (when-let* ((old (atomic-render-entry-overlay entry)))
    (delete-overlay old))
  (when (memq (atomic-render-entry-kind entry) '(thinking tool))
    (let ((overlay (make-overlay (1- (atomic-render-entry-body entry)) (atomic-render-entry-end entry) nil t t)))
      (setf (atomic-render-entry-overlay entry) overlay)
      (overlay-put overlay 'atomic t)
      (overlay-put overlay 'isearch-open-invisible
                   (lambda (_) (atomic-render-fold entry nil)))
      (when (atomic-render-entry-folded entry)
        (overlay-put overlay 'invisible 'atomic)))))

(defun atomic-render-fold (entry folded)
  "Fold the text of ENTRY if FOLDED, else show it."
  (setf (atomic-render-entry-folded entry) folded)
  (when-let* ((overlay (atomic-render-entry-overlay entry)))
    (overlay-put overlay 'invisible (and folded 'atomic))))

(defun atomic-render--append (kind head face text)
  "Append an entry of KIND with HEAD in FACE, or nil, and TEXT; return it."
  (let ((entry (atomic-render-entry--create :kind kind)))
    (goto-char (point-max))
    (setf (atomic-render-entry-start entry) (copy-marker (point)))
    (insert (atomic-render--head entry head face))
    (setf (atomic-render-entry-body entry) (copy-marker (point)))
    (insert (atomic-render--propertized entry text))
    (setf (atomic-render-entry-end entry) (copy-marker (point)))
    (insert "\n\n")
    (atomic-render--cover entry)
    entry))

(defun atomic-render--grow (entry text)
  "Insert TEXT at the end of ENTRY."
  (goto-char (atomic-render-entry-end entry))
  (insert (atomic-render--propertized entry text))
  (set-marker (atomic-render-entry-end entry) (point)))

(defun atomic-render--replace (entry head face text)
  "Make HEAD in FACE and TEXT the whole of ENTRY."
  (let ((start (atomic-render-entry-start entry)))
    (delete-region start (atomic-render-entry-end entry))
    (goto-char start)
    (insert (atomic-render--head entry head face))
    (set-marker (atomic-render-entry-body entry) (point))
    (insert (atomic-render--propertized entry text))
    (set-marker (atomic-render-entry-end entry) (point))
    (atomic-render--cover entry)))

(defun atomic-render-entry-text (entry)
  "The text of ENTRY as it stands."
  (buffer-substring-no-properties (atomic-render-entry-body entry) (atomic-render-entry-end entry)))

(provide 'atomic-entry)
;;; atomic-entry.el ends here

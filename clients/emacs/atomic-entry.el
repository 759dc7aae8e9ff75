;;; atomic-entry.el --- The parts of a transcript  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Guarantees: an entry knows its place; a folded entry stays folded when its text changes, by the means of Outline; escapes and
;; control characters of the agent are gone.  An entry is followed by an empty line, which is why no insertion at its end moves
;; into the next.
;; Must not know: sessions, facts, windows.

;;; Code:

(require 'cl-lib)
(require 'outline)
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

(defface atomic-question '((t :inherit warning))
  "A question of the agent."
  :group 'atomic)

(defface atomic-failure '((t :inherit error))
  "What failed."
  :group 'atomic)

(defun atomic-entry-clean (text)
  "TEXT without escapes and control characters."
  (if (not (string-match-p "[\0-\b\v-\x1f\x7f]" text))
      text
    (thread-last text
                 (replace-regexp-in-string "\e\\[[0-9;:?<=>]*[ -/]*[@-~]\\|\e\\][^\a\e]*\\(?:\a\\|\e\\\\\\)" "")
                 (replace-regexp-in-string "[\0-\b\v-\x1f\x7f]" ""))))

(defun atomic-entry-one-line (text &optional width)
  "TEXT in one line, at most WIDTH columns wide."
  (let ((line (string-trim (replace-regexp-in-string "[ \t\n]+" " " (atomic-entry-clean text)))))
    (if width (truncate-string-to-width line width nil nil "…") line)))

(cl-defstruct (atomic-entry (:constructor atomic-entry--create) (:copier nil))
  "A part of the transcript: the head from START, the text from BODY to END."
  kind start body end folded)

(defun atomic-entry-foldable-p (entry)
  "Whether ENTRY has a text that can be folded under its head."
  (and (memq (atomic-entry-kind entry) '(user thinking tool note))
       (< (atomic-entry-start entry) (atomic-entry-body entry))
       (< (atomic-entry-body entry) (atomic-entry-end entry))))

(defun atomic-entry--face (kind)
  "The face of the text of an entry of KIND."
  (pcase kind
    ('user 'atomic-user-text)
    ('thinking 'atomic-thinking)
    ('tool 'atomic-tool-output)
    ('note 'atomic-note)
    ('question 'atomic-question)
    ('failure 'atomic-failure)))

(defun atomic-entry--propertized (entry text)
  "TEXT as part of ENTRY."
  (let ((face (atomic-entry--face (atomic-entry-kind entry))))
    (setq text (propertize text 'atomic-entry entry))
    ;; What has a face of its own, as a line of a diff, keeps it.
    (when face (font-lock-append-text-property 0 (length text) 'font-lock-face face text))
    text))

(defun atomic-entry--head (entry text face)
  "TEXT in FACE as the head of ENTRY, or nothing if TEXT is nil."
  (if text
      (concat (propertize text 'atomic-entry entry 'atomic-head (if (eq (atomic-entry-kind entry) 'user) 1 2)
                          'font-lock-face face 'atomic-turn (eq (atomic-entry-kind entry) 'user))
              (propertize "\n" 'atomic-entry entry))
    ""))

(defun atomic-entry--mark (entry)
  "Make the first line of ENTRY, which has no head, one that Outline stops at."
  (when (and (= (atomic-entry-start entry) (atomic-entry-body entry))
             (< (atomic-entry-body entry) (atomic-entry-end entry)))
    (put-text-property (atomic-entry-start entry) (1+ (atomic-entry-start entry)) 'atomic-head 2)))

(defun atomic-entry-fold (entry folded)
  "Fold the text of ENTRY if FOLDED, else show it."
  (setf (atomic-entry-folded entry) folded)
  (when (< (atomic-entry-start entry) (atomic-entry-body entry))
    (outline-flag-region (1- (atomic-entry-body entry)) (atomic-entry-end entry) folded)))

(defun atomic-entry-folded-p (entry)
  "Whether the text of ENTRY is folded, by whatever means."
  (and (atomic-entry-foldable-p entry)
       (eq (get-char-property (atomic-entry-body entry) 'invisible) 'outline)))

(defun atomic-entry-append (kind head face text)
  "Append an entry of KIND with HEAD in FACE, or nil, and TEXT; return it."
  (let ((entry (atomic-entry--create :kind kind)))
    (goto-char (point-max))
    (setf (atomic-entry-start entry) (copy-marker (point)))
    (insert (atomic-entry--head entry head face))
    (setf (atomic-entry-body entry) (copy-marker (point)))
    (insert (atomic-entry--propertized entry text))
    (setf (atomic-entry-end entry) (copy-marker (point)))
    (atomic-entry--mark entry)
    (insert "\n\n")
    entry))

(defun atomic-entry-grow (entry text)
  "Insert TEXT at the end of ENTRY."
  (goto-char (atomic-entry-end entry))
  (let ((fresh (= (atomic-entry-body entry) (atomic-entry-end entry))))
    (insert (atomic-entry--propertized entry text))
    (set-marker (atomic-entry-end entry) (point))
    (when fresh (atomic-entry--mark entry))
    (when (atomic-entry-folded-p entry) (atomic-entry-fold entry t))))

(defun atomic-entry-replace (entry head face text)
  "Make HEAD in FACE and TEXT the whole of ENTRY.
Point and marks in a text that only grew stay where they are."
  (let ((start (marker-position (atomic-entry-start entry)))
        (old (atomic-entry-text entry))
        (folded (atomic-entry-folded-p entry)))
    (goto-char start)
    (insert (atomic-entry--head entry head face))
    (delete-region (point) (atomic-entry-body entry))
    (set-marker (atomic-entry-start entry) start)
    (set-marker (atomic-entry-body entry) (point))
    (if (and (not (string-empty-p old)) (string-prefix-p old text))
        (atomic-entry-grow entry (substring text (length old)))
      (delete-region (point) (atomic-entry-end entry))
      (insert (atomic-entry--propertized entry text))
      (set-marker (atomic-entry-end entry) (point)))
    (atomic-entry--mark entry)
    (when folded (atomic-entry-fold entry t))))

(defun atomic-entry-remove (entry)
  "Take ENTRY away, with the empty line after it."
  (delete-region (atomic-entry-start entry) (min (point-max) (+ 2 (atomic-entry-end entry))))
  (dolist (marker (list (atomic-entry-start entry) (atomic-entry-body entry) (atomic-entry-end entry)))
    (set-marker marker nil)))

(defun atomic-entry-text (entry)
  "The text of ENTRY as it stands."
  (buffer-substring-no-properties (atomic-entry-body entry) (atomic-entry-end entry)))

(defun atomic-entry-fold-if-wanted (entry)
  "Fold ENTRY, which is complete, if `atomic-folded' has its kind."
  (when (memq (atomic-entry-kind entry) atomic-folded)
    (atomic-entry-fold entry t)))

(defun atomic-entry-note (text kind)
  "Show TEXT as an entry of KIND, `note' or `failure'."
  (atomic-entry-append kind nil nil (atomic-entry-clean text)))

(provide 'atomic-entry)
;;; atomic-entry.el ends here

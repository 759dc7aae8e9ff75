;;; emacs.el --- A long answer in the Emacs package, against a local timer  -*- lexical-binding: t; no-byte-compile: t; -*-

;;; Commentary:

;; Measures in the real Emacs, with a window that follows: the longest time in which the command loop could not run, and the
;; processor time, for an answer through the bridge and for the same text that a local timer inserts at the same rate.

;;; Code:

(require 'atomic)

(defvar atomic-bench--blocks nil "All blocks, in milliseconds.")

(defun atomic-bench--work ()
  "The processor time of this Emacs so far, in milliseconds."
  (* 1000 (float-time (get-internal-run-time))))

(defun atomic-bench--measure (start done-p)
  "Call START, redisplay until DONE-P; return what it cost."
  (garbage-collect)
  (setq atomic-bench--blocks nil)
  (let* ((last (float-time))
         (begin (atomic-bench--work))
         (before begin)
         ;; On a machine that has other work the clock tells of that too.
         (busiest 0.0)
         (watch (run-at-time 0 0.002 (lambda ()
                                       (let ((now (float-time))
                                             (work (atomic-bench--work)))
                                         (push (* 1000 (- now last)) atomic-bench--blocks)
                                         (setq busiest (max busiest (- work before))
                                               before work
                                               last now))))))
    (funcall start)
    (while (not (funcall done-p)) (sit-for 0.002))
    (cancel-timer watch)
    (let ((sorted (sort (copy-sequence atomic-bench--blocks) #'>)))
      (list :longest (car sorted)
            :p999 (nth (/ (length sorted) 1000) sorted)
            :busiest busiest
            :cpu (/ (- (atomic-bench--work) begin) 1000.0)))))

(defun atomic-bench--local (text size rate)
  "What TEXT costs when a timer inserts SIZE characters at a time, RATE times a second."
  (let ((buffer (generate-new-buffer "local"))
        (at 0) (timer nil))
    (switch-to-buffer buffer)
    (delete-other-windows)
    (buffer-disable-undo)
    (prog1
        (atomic-bench--measure
         (lambda ()
           (setq timer (run-at-time 0 (/ 1.0 rate)
                                    (lambda ()
                                      (with-current-buffer buffer
                                        (goto-char (point-max))
                                        (insert (substring text at (min (length text) (+ at size))))
                                        (dolist (window (get-buffer-window-list buffer nil t))
                                          (set-window-point window (point-max))))
                                      (setq at (+ at size))))))
         (lambda () (>= at (length text))))
      (cancel-timer timer)
      (kill-buffer buffer))))

(defun atomic-bench--bridge (client)
  "What the answer of CLIENT's agent costs."
  (let* ((done nil)
         (ended (lambda (&rest _) (setq done t))))
    (switch-to-buffer (atomic-chat-buffer client))
    (delete-other-windows)
    (goto-char (point-max))
    (add-hook 'atomic-run-finished-functions ended)
    (prog1 (atomic-bench--measure (lambda () (atomic-send client "prompt" "Go on")) (lambda () done))
      (remove-hook 'atomic-run-finished-functions ended))))

(defun atomic-bench-run (repetitions file)
  "Measure REPETITIONS times and write the numbers to FILE."
  (setq ring-bell-function #'ignore)
  (let* ((client (atomic-current-client))
         (started nil)
         (results nil))
    (atomic-client-ensure client (lambda (_) (setq started t)))
    (while (not started) (sit-for 0.01))
    ;; The agent is started and the code is warm when it counts.
    (atomic-bench--bridge client)
    (dotimes (_ repetitions)
      (with-current-buffer (atomic-chat-buffer client)
        (setf (atomic-session-messages (atomic-client-session client)) nil)
        (revert-buffer))
      (let* ((bridge (atomic-bench--bridge client))
             (text (atomic-content-text
                    (plist-get (car (atomic-session-messages (atomic-client-session client))) :content)))
             (local (atomic-bench--local text (/ (length text) 300) 30)))
        (push (list :bridge bridge :local local :characters (length text)) results)))
    (with-temp-file file (insert (json-serialize (vconcat results))))
    (kill-emacs)))

;;; emacs.el ends here

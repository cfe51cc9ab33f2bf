//! Threads for work that computes: decode, sort, merge, compress.
//!
//! ```text
//!  task = cpu.run(job)  --> queue --> worker thread --> answer --> task.await
//!                                         |
//!                           a dropped task's job is skipped; a panic becomes an error
//! ```
//!
//! The runtime that serves sockets never computes, and `spawn_blocking` is for blocking file calls only (design §3.3). The
//! queue holds at most one job per live [`CpuTask`], so whoever holds the tasks bounds it.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::oneshot;

use crate::IoError;

type Job = Box<dyn FnOnce() + Send>;

/// How many jobs [`CpuPool::map`] makes per thread, so that uneven items even out.
const MAP_JOBS_PER_THREAD: usize = 4;

/// A fixed set of worker threads; cheap to clone. The threads end when the last clone is gone and the queue is empty.
#[derive(Clone)]
pub struct CpuPool {
    /// Where jobs go; none means that they run at once on the thread that submits them.
    queue: Option<Arc<Sender<Job>>>,
    threads: usize,
}

impl CpuPool {
    /// Starts `threads` workers (at least one).
    ///
    /// If the operating system refuses some of the threads the pool is smaller, which [`CpuPool::threads`] tells; if it refuses all of
    /// them, jobs run on the threads that submit them.
    pub fn new(threads: usize) -> Self {
        let (sender, receiver) = crossbeam_channel::unbounded::<Job>();
        let started = (0..threads.max(1))
            .filter(|&index| start_worker(index, receiver.clone()))
            .count();
        if started == 0 {
            tracing::warn!("no worker thread could be started, computing on the callers' threads");
            return Self {
                queue: None,
                threads: 1,
            };
        }
        Self {
            queue: Some(Arc::new(sender)),
            threads: started,
        }
    }

    /// One worker per core this process may use.
    pub fn with_all_cores() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }

    /// A pool without threads: each job runs when it is submitted. For simulations whose order must repeat.
    #[cfg(any(test, feature = "test-util"))]
    pub fn inline() -> Self {
        Self {
            queue: None,
            threads: 1,
        }
    }

    /// How many jobs can run at the same time.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Jobs that wait for a worker.
    pub fn queued(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.len())
    }

    /// Queues `job` now; await the task for its value.
    ///
    /// Dropping the task before a worker took the job means that it never runs; a job that runs is not interrupted.
    pub fn run<T, F>(&self, job: F) -> CpuTask<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (sender, answer) = oneshot::channel();
        let span = tracing::Span::current();
        let job: Job = Box::new(move || {
            if sender.is_closed() {
                return;
            }
            let outcome =
                catch_unwind(AssertUnwindSafe(|| span.in_scope(job))).map_err(|payload| {
                    IoError::TaskPanicked {
                        message: panic_message(payload.as_ref()),
                    }
                });
            // Whoever asked may be gone by now; the value is then not wanted.
            drop(sender.send(outcome));
        });
        match &self.queue {
            // A refused job is dropped with its sender, which the task reports as cancelled.
            Some(queue) => drop(queue.send(job)),
            None => job(),
        }
        CpuTask { answer }
    }

    /// Applies `work` to each item in parallel; the answers have the order of the items.
    ///
    /// Items go to the workers in runs of equal length, a few per thread, so many small items cost few hand-overs. The first panic ends it.
    ///
    /// # Errors
    /// [`IoError::TaskPanicked`] if `work` panicked on an item.
    pub async fn map<I, T, F>(&self, items: Vec<I>, work: F) -> Result<Vec<T>, IoError>
    where
        I: Send + 'static,
        T: Send + 'static,
        F: Fn(I) -> T + Send + Sync + 'static,
    {
        let total = items.len();
        let run_length = total
            .div_ceil(self.threads.saturating_mul(MAP_JOBS_PER_THREAD))
            .max(1);
        let work = Arc::new(work);
        let mut tasks = Vec::with_capacity(total.div_ceil(run_length));
        let mut items = items.into_iter();
        loop {
            let run: Vec<I> = items.by_ref().take(run_length).collect();
            if run.is_empty() {
                break;
            }
            let work = Arc::clone(&work);
            tasks
                .push(self.run(move || run.into_iter().map(|item| work(item)).collect::<Vec<T>>()));
        }
        let mut answers = Vec::with_capacity(total);
        for task in tasks {
            answers.extend(task.await?);
        }
        Ok(answers)
    }
}

impl fmt::Debug for CpuPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuPool")
            .field("threads", &self.threads)
            .field("queued", &self.queued())
            .finish()
    }
}

fn start_worker(index: usize, jobs: Receiver<Job>) -> bool {
    let worker = thread::Builder::new().name(format!("tidewater-cpu-{index}"));
    let started = worker.spawn(move || {
        while let Ok(job) = jobs.recv() {
            job();
        }
    });
    started.is_ok()
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "no message".to_owned()
    }
}

/// A job on a [`CpuPool`]; resolves to its value.
///
/// # Errors
/// [`IoError::TaskPanicked`] with the panic's text; [`IoError::TaskCancelled`] if the pool went away first.
#[derive(Debug)]
#[must_use = "dropping the task cancels a job that has not started"]
pub struct CpuTask<T> {
    answer: oneshot::Receiver<Result<T, IoError>>,
}

impl<T> Future for CpuTask<T> {
    type Output = Result<T, IoError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer)
            .poll(cx)
            .map(|answer| answer.unwrap_or(Err(IoError::TaskCancelled)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_job_runs_on_a_named_worker_and_answers() {
        let pool = CpuPool::new(2);
        assert_eq!(pool.threads(), 2);
        let name = pool
            .run(|| thread::current().name().map(str::to_owned))
            .await
            .unwrap();
        assert!(name.unwrap().starts_with("tidewater-cpu-"));
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_worker_lives_on() {
        let pool = CpuPool::new(1);
        let failed: Result<(), _> = pool.run(|| panic!("bad page {}", 7)).await;
        assert!(
            matches!(failed, Err(IoError::TaskPanicked { message }) if message == "bad page 7")
        );
        assert_eq!(pool.run(|| 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn the_job_of_a_dropped_task_is_skipped() {
        let pool = CpuPool::new(1);
        let ran = Arc::new(AtomicUsize::new(0));
        let (open, gate) = mpsc::channel::<()>();
        let first = pool.run(move || gate.recv().is_ok());
        let skipped = {
            let ran = Arc::clone(&ran);
            pool.run(move || ran.fetch_add(1, Ordering::SeqCst))
        };
        drop(skipped);
        let last = pool.run(|| "last");
        open.send(()).unwrap();
        assert!(first.await.unwrap());
        assert_eq!(last.await.unwrap(), "last");
        assert_eq!(ran.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn jobs_queued_before_the_pool_is_dropped_still_answer() {
        let pool = CpuPool::new(1);
        let tasks: Vec<_> = (0..10).map(|n| pool.run(move || n * n)).collect();
        drop(pool);
        let answers = futures::future::try_join_all(tasks).await.unwrap();
        assert_eq!(answers, (0..10).map(|n| n * n).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn map_keeps_the_order_of_the_items() {
        for pool in [CpuPool::new(3), CpuPool::inline()] {
            for count in [0_usize, 1, 11, 12, 13, 1000] {
                let doubled = pool
                    .map((0..count).collect(), |n: usize| n * 2)
                    .await
                    .unwrap();
                assert_eq!(doubled, (0..count).map(|n| n * 2).collect::<Vec<_>>());
            }
        }
    }

    #[tokio::test]
    async fn map_reports_the_panic_of_one_item() {
        let pool = CpuPool::new(2);
        let answer = pool
            .map(vec![1, 0, 2], |n: u32| 10_u32.checked_div(n).unwrap())
            .await;
        assert!(matches!(answer, Err(IoError::TaskPanicked { .. })));
    }

    #[tokio::test]
    async fn map_uses_all_threads_at_once() {
        // Each job waits for the other: with one thread this would never end.
        let pool = CpuPool::new(2);
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let met = pool
            .map(vec![(), ()], move |()| barrier.wait().is_leader())
            .await
            .unwrap();
        assert_eq!(met.iter().filter(|&&leader| leader).count(), 1);
    }
}

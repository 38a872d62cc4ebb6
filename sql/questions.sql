-- Questions about profiles, as views over the tables of docs/PARQUET.md. For DuckDB and Spark SQL; docs/PARQUET.md shows how the tables
-- get their names. Costs are in the weight of the event: samples, nanoseconds or bytes. Ids of stacks and frames are those of a block, which is
-- a folder of tables, so that tables of many folders can be one view.

-- The innermost frame of each stack.
CREATE OR REPLACE TEMPORARY VIEW stacks AS
SELECT block, stack_id, frame_id AS leaf_frame_id FROM stack_frames WHERE from_leaf = 0;

-- Frames with class and package of Java methods, with dots.
CREATE OR REPLACE TEMPORARY VIEW frame_classes AS
SELECT block, frame_id, name, file, line, kind,
    CASE WHEN is_java THEN replace(nullif(regexp_extract(name, '^(.*)[.][^./]*$', 1), ''), '/', '.') END AS class,
    CASE WHEN is_java THEN replace(nullif(regexp_extract(name, '^(.*)/[^/]*[.][^/]*$', 1), ''), '/', '.') END AS package
FROM (SELECT *, kind IN ('interpreted', 'C1', 'compiled', 'inlined') OR (kind = 'unknown' AND name LIKE '%/%') AS is_java FROM frames) AS known;

-- Costs of methods with their names.
CREATE OR REPLACE TEMPORARY VIEW methods AS
SELECT m.block, m.day, m.application, m.event, f.name AS method, m.self, m.total
FROM method_costs m JOIN frames f ON m.block = f.block AND m.method_id = f.frame_id;

-- Samples with their cost.
CREATE OR REPLACE TEMPORARY VIEW costs AS
SELECT s.block, s.application, s.event, s.executor, s.stage, s.stage_attempt, s.task, s.job, s.sql, s.state, s.thread_group, s.time,
    CAST(s.time AS DATE) AS day, s.stack_id, CASE WHEN e.weight = 'value' THEN s.value ELSE s.count END AS cost
FROM samples s JOIN events e ON s.block = e.block AND s.event = e.event;

-- Which methods cost most?
CREATE OR REPLACE TEMPORARY VIEW top_methods AS
SELECT event, method, sum(self) AS self, sum(total) AS total, count(DISTINCT application) AS applications
FROM methods GROUP BY event, method;

-- Which applications would profit if a method were faster?
CREATE OR REPLACE TEMPORARY VIEW method_applications AS
SELECT event, method, application, sum(self) AS self, sum(total) AS total
FROM methods GROUP BY event, method, application;

-- What grew? Each day beside the day before on which the method was seen; without samples that have no time.
CREATE OR REPLACE TEMPORARY VIEW method_trend AS
SELECT event, method, day, self, total, self - lag(self) OVER (PARTITION BY event, method ORDER BY day) AS self_change,
    total - lag(total) OVER (PARTITION BY event, method ORDER BY day) AS total_change
FROM (SELECT event, method, day, sum(self) AS self, sum(total) AS total FROM methods
    WHERE day IS NOT NULL GROUP BY event, method, day) AS daily;

-- What is new? The first and the last day of each method.
CREATE OR REPLACE TEMPORARY VIEW method_days AS
SELECT event, method, min(day) AS first_day, max(day) AS last_day, count(DISTINCT day) AS days, sum(self) AS self
FROM methods GROUP BY event, method;

-- What passes through a package, such as a compression or JSON library? A stack counts once for each of its packages, which are numbers (their
-- first frame in the block) until the end.
CREATE OR REPLACE TEMPORARY VIEW package_totals AS
SELECT s.event, n.package, sum(s.total) AS total
FROM (SELECT c.event, p.block, p.package_id, sum(c.cost) AS total
    FROM (SELECT block, event, stack_id, sum(cost) AS cost FROM costs GROUP BY block, event, stack_id) AS c
    JOIN (SELECT DISTINCT x.block, x.stack_id, f.package_id FROM stack_frames x
        JOIN (SELECT block, frame_id, min(frame_id) OVER (PARTITION BY block, package) AS package_id FROM frame_classes
            WHERE package IS NOT NULL) AS f ON x.block = f.block AND x.frame_id = f.frame_id) AS p
        ON c.block = p.block AND c.stack_id = p.stack_id
    GROUP BY c.event, p.block, p.package_id) AS s
JOIN frame_classes n ON s.block = n.block AND s.package_id = n.frame_id
GROUP BY s.event, n.package;

-- Java, Python, native code, the kernel: by the innermost frame.
CREATE OR REPLACE TEMPORARY VIEW kinds_of_code AS
SELECT c.application, c.event, f.kind, sum(c.cost) AS self
FROM costs c JOIN stacks t ON c.block = t.block AND c.stack_id = t.stack_id JOIN frames f ON t.block = f.block AND t.leaf_frame_id = f.frame_id
GROUP BY c.application, c.event, f.kind;

-- Garbage collection, compilation, tasks and the rest: by thread.
CREATE OR REPLACE TEMPORARY VIEW thread_groups AS
SELECT application, event,
    CASE WHEN thread_group LIKE 'GC Thread%' OR thread_group LIKE 'G# %' OR thread_group LIKE 'ZGC%' OR thread_group LIKE 'Shenandoah%'
            THEN 'garbage collection'
        WHEN thread_group LIKE 'C# CompilerThr%' THEN 'compilation'
        WHEN task IS NOT NULL THEN 'tasks'
        ELSE 'other' END AS activity,
    sum(cost) AS cost
FROM costs GROUP BY 1, 2, 3;

-- What do stages wait for?
CREATE OR REPLACE TEMPORARY VIEW waits AS
SELECT c.application, c.stage, c.state, f.name AS method, sum(c.cost) AS cost
FROM costs c JOIN stacks t ON c.block = t.block AND c.stack_id = t.stack_id JOIN frames f ON t.block = f.block AND t.leaf_frame_id = f.frame_id
WHERE c.event = 'wall' AND c.state <> 'runnable' AND c.stage IS NOT NULL
GROUP BY c.application, c.stage, c.state, f.name;

-- Which executors cost more than their peers? 1 is the mean of the application.
CREATE OR REPLACE TEMPORARY VIEW executor_peers AS
SELECT application, event, executor, cost, cost / avg(cost) OVER (PARTITION BY application, event) AS ratio
FROM (SELECT application, event, executor, CAST(sum(cost) AS DOUBLE) AS cost FROM costs
    WHERE executor IS NOT NULL AND executor <> 'driver' GROUP BY application, event, executor) AS sums;

-- Which stages cost most?
CREATE OR REPLACE TEMPORARY VIEW stage_costs AS
SELECT application, event, stage, sum(cost) AS cost, count(DISTINCT task) AS tasks, count(DISTINCT executor) AS executors
FROM costs WHERE stage IS NOT NULL GROUP BY application, event, stage;

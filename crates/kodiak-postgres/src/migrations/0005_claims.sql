-- Which chunks a process is embedding. `holder` is the number of an advisory lock that the
-- process holds for as long as it embeds: without that lock, the claim has ended. Rows here
-- have no meaning beyond that, so that deleting all of them costs some work at most.
CREATE TABLE claims (
    chunk  bigint NOT NULL,
    model  bigint NOT NULL,
    holder bigint NOT NULL,
    PRIMARY KEY (chunk, model)
);

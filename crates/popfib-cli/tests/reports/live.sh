# bash live.sh OPTION FILE COMMAND...: runs the command while `popfibd` answers on $SOCKET what a router has sent in the file.
# OPTION is --bmp or --fpm.
option=$1 file=$2 SOCKET=$PWD/live-$$.sock
export SOCKET
shift 2
: > "$SOCKET.log"
popfibd "$option" 127.0.0.1:0 --socket "$SOCKET" 2> "$SOCKET.log" < /dev/null &
trap 'kill $!; wait $! 2> /dev/null; rm -f "$SOCKET.log"' EXIT
until grep -q answering "$SOCKET.log"; do sleep 0.02; done
port=$(sed -n 's/.* on 127.0.0.1:\([0-9]*\)$/\1/p' "$SOCKET.log")
cat "$file" > "/dev/tcp/127.0.0.1/$port"
until grep -q disconnected "$SOCKET.log"; do sleep 0.02; done
"$@"

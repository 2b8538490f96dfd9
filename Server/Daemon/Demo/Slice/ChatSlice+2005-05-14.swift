extension ChatSlice {
    /// #ubuntu on 2005-05-14.
    static let day20050514 = #"""
        09:07=jacquesmerde well, its on DHCP
        09:07=ivoks jacquesmerde so what?
        09:07-subhankar
        09:07=karsten jacquesmerde: Dude.  Static.
        09:07=ivoks jacquesmerde u steel need dns
        09:07=thoreauputic jacquesmerde, you need your computer's name and IP in the other machines' /etc/hosts
        09:07=jacquesmerde ivoks, how do i use this DNS mastery? why doesnt ubuntu do it be default? archlinux does, and it does NOTHING for me by default
        09:07=ivoks jacquesmerde u are wrong, man
        09:07=karsten jacquesmerde: Ubuntu aims for desktop.  It doesn't install servers by default.
        09:08=karsten jacquesmerde: aptitude install bind9 and RTFM.
        09:08=ivoks jacquesmerde no software knows what computers are on network
        09:08=jacquesmerde thoreauputic, thats hard if its DHCP though
        09:09=karsten jacquesmerde: Which *still* isn't going to solve your problem.
        09:09+fdr
        09:09=IIIEars won't a router referee DHCP for a LAN?
        09:09=fdr hello
        09:09=karsten jacquesmerde: Hint, and I'm going to whisper this in your ear
        09:09=ivoks jacquesmerde ?
        09:09=cyphase jacquesmerde, i've had that problem as well. i have to hand set it
        09:09+jowe
        09:09=jacquesmerde cyphase, hand set it as in manually set the IP? or set the IP manually on each connection
        09:10=karsten jacquesmerde: You've been rambling on this crap for hours.  Last clue, dude.
        09:10=c-sic hi:)
        09:10=cyphase jacquesmerde, i had to hand set a hostname. the IP address was already set
        09:10+freewoody
        09:10=jacquesmerde karsten, yeah, i figure that's my contingency plan. but somehow what i'm wanting to do seems so basic i feel i shouldnt need to
        09:10=thoreauputic jacquesmerde, static IP is quite easy for a small LAN
        09:10=IIIEars ah
        09:10=ivoks he's trying to say that all windows machines provide their hostname to dhcp server
        09:10=ivoks but ubuntu doesn't
        09:11=ivoks i guess
        09:11=ivoks :)
        09:11=karsten ivoks: That's WINS, not DNS.
        09:11=jacquesmerde ok, let me put my question in one final form: what are the keywords related to what i'm trying to understand here, so i can google and RTFM
        09:11=ivoks karsten no, no...
        09:11=karsten jowe: Talk to metalsand
        09:11=karsten ivoks: yes yes yes.
        09:11=ivoks karsten when u bring up dhcp server
        09:11=jacquesmerde jowe, my computer uses that .inf
        09:11=ivoks karsten and it starts to give leases
        09:11=karsten ivoks: ... Default Windows name resolution order is WINS, then BIND.
        09:11=ivoks karsten usually it writes something like:
        09:11=karsten ivoks: Your host announces itself to the network via WINS.  That's how it's found.
        09:11=jowe jacquesmerde - do you know where I can download the .inf?
        09:12=Fahim morgning.. somebody here who speaks german?
        09:12=karsten Fahim: Nur ein bisschen.
        09:12=karsten Fahim: Velleicht #debian-de ?
        09:12=freewoody Hi all
        09:12=thoreauputic Fahim,  /join #ubuntu-de
        09:12=Fahim :)
        09:12=freewoody How do I setup mrtg in Ubuntu to monitor my network connections
        09:12=Fahim thx but they are all sleeping there :)
        09:12=karsten Fahim: ...oder #ubunt-de
        09:12=jacquesmerde jowe, no! i had to get someone on this channel to email it to me
        09:12=metalsand Woah, German
        09:12-metalsand
        09:12+metalsand
        09:12+Fac51
        09:12=karsten ivoks: Oi.  That's DHCP...
        09:12=metalsand Ack.
        09:12=Fac51 yO!
        09:13=jowe jacquesmerde - lol thanks anyway. I'll have to do the same.
        09:13=ivoks karsten and that isn't over WINS
        09:13+concept10
        09:13=Fac51 all i need is a link... i think
        09:13=Fac51 i need sndconfig, but can't seem to find one that will install on Hoary
        09:13=c-sic metalsand, woah german...
        09:13=karsten ivoks: Welcome to port 67
        09:13=Fahim SO I will try it in english: I want to connect with WLAN WEP to my router... but my router does not give my laptop with ubuntu a IP With DHCP....
        09:13=Fahim does anybody know what I am doing wrong?
        09:13=fdr thanks to whoever may help
        09:13=metalsand German is crazy
        09:13=ivoks karsten u see, some does send hostname, some doesn't
        09:13=concept10 gosh, ubuntu is taking forever to install on my spare celeron 333mhz box
        09:13=metalsand I'm 50% german, my dad is full.
        09:14=Seveas fdr, it's called linux-image-SOME_VERSION_NUMBER
        09:14=metalsand Although I know like 6 words.
        09:14=ivoks karsten this are both windows machines
        09:14=karsten ivoks: DHCP request an IP from a MAC address.  Your point?
        09:14+poornima
        09:14=ivoks karsten but look at first request... it writes hostname "(demosi1)"
        09:14=karsten ivoks: Want the RFC references?
        09:14=jowe does anyone here have the bcmwl5.inf driver? I need it to get my wireless working.
        09:14=ivoks karsten :)
        09:14=holycow karsten is in a fitin' mood tonite!
        09:14=stuNNed heh
        09:15=karsten holycow: Get stuffed ;-)
        09:15=metalsand Jowe: You ARE trying to get this working for Ubuntu, aren't you?
        09:15=holycow hehe :)
        09:15=metalsand karsten, how do you know German?
        09:15=ivoks karsten i'm just trying to exaplin what jacquesmerde is complaining about
        09:15=karsten metalsand: Good beer.
        09:15=stuNNed karsten: so what offeres up the hostname to the dhcp server?
        09:15+mlh
        09:15+oferw
        09:15=metalsand karsten, har har
        09:15=da_bon_bon hey, has the ubuntu ftp archive key changes ?
        09:15=Seveas stuNNed, the dhcp client
        09:15=da_bon_bon *d
        09:15=stuNNed Seveas: ah ok thanks
        09:15=fdr Seveas, : yeah, I did that, but I can only find 2.6.10 and 2.6.11
        09:16=karsten stuNNed: Unless I'm grossly mistaken (and this is a posibility), your typical Windows LAN nameservice is *WINS*, *not* DNS.
        09:16=jacquesmerde ivoks, am i REALLY an idiot?
        09:16=jowe metalsand, yeah for ubuntu (well, kubuntu I guess.)
        09:16=ivoks jacquesmerde yes
        09:16=ivoks :))
        09:16=stuNNed karsten: unless WINS is disabled i would guess
        09:16=karsten stuNNed: Now that's an empirically testable hypothesis.
        09:16=ivoks jacquesmerde go to /etc/dhcp3 dir
        09:17=Seveas karsten, a dhcp client can send a hostname in a dhcp request...
        09:17=ivoks jacquesmerde and remove comment "send host-name"
        09:17=Seveas no need to use wins
        09:17=jacquesmerde ivoks, /etc/dhcpc?
        09:17=stuNNed Seveas: how does the dhcp client get the hostname?
        09:17=ivoks karsten it isn't about logging tool, it's about dhclient
        09:17=Seveas stuNNed, that's set in /etc/hostname
        09:18=ivoks jacquesmerde /etc/dhcp3/
        09:18=Seveas just the name you gave it upon install
        09:18=Seveas or another name if you changed it...
        09:18=ivoks jacquesmerde there is file dhclient.conf
        09:18=karsten Seveas: From TFM>
        09:18=karsten Seveas: ...dhcpd.
        09:18=karsten ivoks: What's your logger?
        09:18=jacquesmerde ivoks, sorry
        09:18=ivoks karsten syslogd
        09:18=c-sic evoks...lol
        09:19=karsten ivoks: Try tcpdump
        09:19=ivoks :)
        09:19=jacquesmerde ivoks, cool. then what's the ubuntu equivalent of /etc/rc.d/network restart?
        09:19+thomo
        09:19=ivoks karsten man, dhcp clients can send or don't send their hostnames
        09:19=ivoks jacquesmerde u don't need to do that
        09:19=ivoks karsten period
        09:19=Seveas karsten, please read a bit more you obviously don;t know all about it
        09:19=jacquesmerde editing that text file will spontaneously start hostname sending?
        09:20=jacquesmerde i had a feeling hostname sending was a simple togglable thing
        09:20=stuNNed Seveas: heh
        09:20+fahim_
        09:20=metalsand karsten is so mysterious.
        09:20=da_bon_bon hey, gpg key has chnaged ??
        09:20=karsten Seveas: Didn't say I did.
        09:20=ivoks jacquesmerde u can try ifup eth0 down and then ifup eth0 up
        09:20=jacquesmerde ivoks, oh yeah
        09:20=da_bon_bon jacquesmerde: use gui
        09:20=jacquesmerde cheers
        09:20=Seveas karsten, then please stop telling nonsense and stop confusing others
        09:20=karsten Seveas: What I *don't* see is anything saying DHCP (w/o proprietary vendor extensions) is communicating hostname to client.
        09:20=jacquesmerde da_bon_bon, how do i use the gui?
        09:20=karsten Seveas: Prove me wrong.
        09:20=Seveas karsten, read the rfc
        09:21=karsten Seveas: That's not a challenge.
        09:21=Seveas or even the dhcp client's documentation
        09:21=karsten Seveas: As it happens, I'm googling for same ATM.
        09:21=Seveas fdr, packages.ubuntu.com
        09:21=karsten fdr: Google.
        09:21=stuNNed karsten: what's the deal?  a dhcp client can or cannot send the hostname, it seems.
        09:21=holycow basically ifilm is telling everyone f.u. turn off popup blocking, antispyware, and all other protection on a machine
        09:21=holycow amazing
        09:21=stuNNed holycow: lol
        09:21-xris
        09:22=Seveas karsten, read the SAMPLE section for man dhclient.conf
        09:22=karsten stuNNed: The deal is I think the information's wrong.  Point me at an authoritative source that says otherwise and I'll be happy to concede the point.
        09:22+pce-matty
        09:22=karsten Seveas: Sec.
        09:23=cyphase New IRC channel for The ShoutNet Project ----- Find it at #shoutnet on irc.freenode.com
        09:23+manzanita
        09:23=ivoks u can even change MAC address
        09:24=Seveas karsten, and man dhcp-options can enlighten you too
        09:24+amandine
        09:24+mz2
        09:24=thomo hi everyone, any fluxbox users about?
        09:25=stuNNed karsten: what does WINS have to do with a dhcp server listing hostnames?  i think nothing.  a dhcp server does not support WINS in any form or fashion.
        09:25=ivoks stuNNed it does
        09:25=ivoks stuNNed it can provide WINS info to clients :)
        09:25=stuNNed ivoks: aha, thanks for the correction
        09:25=karsten stuNNed: Stop playing rhetoric.
        09:25=karsten Seveas: Reading.
        09:26=metalsand eth2      IEEE 802.11-DS  Nickname:"Prism  I"
        09:26=metalsand Why does my eth2 display so little data?
        09:26=karsten metalsand: ifconfig?
        09:26=ivoks iwconfig
        09:26+dabaSlon
        09:26=metalsand bigpaste... warning
        09:26=metalsand Link encap:Ethernet  HWaddr 00:02:6F:36:90:11
        09:26=stuNNed karsten: be nice, fella
        09:26=Seveas metalsand, DONT PASTE HERE
        09:26=metalsand Link encap:Ethernet  HWaddr 00:02:6F:36:90:11
        09:26=ivoks jesus...
        09:27=Seveas metalsand, fool!!
        09:27=stuNNed in the name of...
        09:27=karsten stuNNed: Be relevant.
        09:27=metalsand sorry :x
        09:27=ivoks warning, kickban
        09:27=ivoks :)
        09:27=karsten Seveas: What's the server do with the host-name option?
        09:27=Seveas metalsand, there's #flood for that or use a pastebin
        09:27=jacquesmerde ivoks, grrrrr. didnt work
        09:27=metalsand I'm in flood
        09:27=metalsand But i started talking in here
        09:27=metalsand karsten, there's no inet address for eth2
        09:27=ivoks jacquesmerde yes it did
        09:28=Seveas karsten, the server gets this info from the client if in the client the send host-name directive is used
        09:28=Seveas and that's what is displayed
        09:28=jacquesmerde ivoks, lol. no
        09:28=da_bon_bon someone, please tell me the main server gpg key is screwed up ?
        09:28=ivoks jacquesmerde ur dhcp server now knows the name of ur host
        09:28=ivoks jacquesmerde but that doesn't mean that u can ping that machine by it's hostname
        09:28+jsg
        09:28=ivoks jacquesmerde u need DNS for that
        09:28=karsten Seveas: Got it.   dhcpd.conf(5):  " The DHCP server determines the client's hostname ..."
        09:29=jacquesmerde ivoks, i beg to differ
        09:29=thoreauputic da_bon_bon, "The main server gpg key is screwed up" happy now ? *G*
        09:29=Seveas that says that the client sends the hostname 'demosi1' in the dhcp request
        09:29=Seveas da_bon_bon, try an apt-get update
        09:29=bob2 da_bon_bon: please chill out
        09:29=jacquesmerde ivoks, i edited the file, ifdown'ed and ifup'ed...
        09:29=da_bon_bon thoreauputic: no jokes
        09:29=thoreauputic da_bon_bon, actually I have no idea if that's true BTW
        09:29=da_bon_bon Seveas: did it 7 times
        09:30=da_bon_bon thoreauputic: please try apt-get update and u will know
        09:30=ivoks jacquesmerde now check out ur DHCP server and search for ur hostname
        09:30=da_bon_bon bob2: any idea what i must do now ?
        09:30=metalsand bob2: can you help me out with some troubleshooting?
        09:30=Seveas da_bon_bon, then simply wait, these errors sometimes happen. They will resolve...
        09:30=karsten Seveas: How does the server resolve name collisions?
        09:30=thoreauputic da_bon_bon, I'm doing that as we speak
        09:30=da_bon_bon thoreauputic: thnx
        09:30=Seveas karsten, no idea, check out the documentation :)
        09:30=bob2 metalsand: unless it's very specific, I don't have time atm, sorry
        09:30+harsha_
        09:30=karsten Seveas: Checking, damnit!
        09:30=da_bon_bon it still is
        09:31=Seveas da_bon_bon, here too, just wait for an hour or so
        09:31=karsten Seveas: I stand corrected.
        09:31=Seveas it will resolve...
        09:31=da_bon_bon great
        09:31=da_bon_bon so i am not the only one :)
        09:31=da_bon_bon anyway, see ya guys after an hours
        09:31=da_bon_bon gotta run
        09:31=da_bon_bon bye all
        09:31=Seveas IIIEars, fat32 file size limit is 4gb
        09:31=Seveas if your dest. partition is fast32, there's no way of doing this
        09:31=IIIEars am i stuck?
        09:31=ivoks jacquesmerde u fool
        09:32=ivoks jacquesmerde why didn't u put in ur hostname??
        09:32=IIIEars can i DD or something?
        09:32=karsten IIIEars: What version of 'Doze?  What FS?
        09:32=Seveas IIIEars, very bad idea
        09:32=metalsand IIIEars, Rar it into smaller pieces, and create .isos from those?
        09:32=jacquesmerde ivoks, why should it make a difference?
        09:32=IIIEars Fat 32 XP
        09:32=Seveas IIIEars, no eay of doing it
        09:32=karsten IIIEars: Move on one system, or move to another location?
        09:32=jacquesmerde ivoks, do i put my hostname in "s?
        09:32=ivoks jacquesmerde put in ur hostname without .xx.com
        09:32=karsten metalsand: man split.
        09:32=Seveas fat32 cannot handle files that are bigger than 4 gb
        09:32=karsten IIIEars: 'man split'
        09:32=Seveas so you're screwed :)
        09:32=IIIEars move to an external USB drive
        09:32=ivoks jacquesmerde ifdown ethx
        09:32=jacquesmerde so "myhost" or myhost?
        09:32=ivoks jacquesmerde killall -9 dhclient3
        09:33=Seveas IIIEars, usb disks generally are fat32 too
        09:33=karsten IIIEars: How big's the file, what's the source of it?
        09:33=ivoks jacquesmerde send host-name "imafool"
        09:33=karsten Seveas: They can be reformatted ;-)
        09:33=Seveas karsten, :o)
        09:33=IIIEars Great! - Linux power. - you guys keep feeding it. :)
        09:33=Seveas IIIEars, if you format (under windows) your >8gb usb drive into fat32, that's an option
        09:33=karsten IIIEars: Where is the image now, what FS, and how do you know it's a valid image?
        09:33=Seveas into ntfs i meant*
        09:33=ivoks jacquesmerde don't forget ; as a lst latter
        09:33=ivoks letter
        09:34=IIIEars Dual Layer DVD it must be at least 8gigs in a single file a few megs in a descritpor file.
        09:34+damien
        09:34=karsten IIIEars: I'm partial to split and/or netcat myself.
        09:34=IIIEars It's on an NTFS drive
        09:34=Seveas why not leave it on there?
        09:35=karsten IIIEars: So you created it OK, but can't move it elsewhere, right?
        09:35=IIIEars I see trouble comming though my USB is Fat32
        09:35=transgress hey anyone know if i need to activate something else to get my lappy to hibernate?
        09:35=IIIEars Exactly - "Super Glued" in place
        09:35=IIIEars lol
        09:35=jacquesmerde ivoks, its working fine now. i knew it would be a simple task if i wasnt such a moron
        09:35=bhoomi i am getting dpkg error when i try to upgrade / install a package
        09:36=Seveas bhoomi, a GPG error?
        09:36=IIIEars Thank You you threw me a line. i can google the rest. :)
        09:36+ish
        09:36=ivoks jacquesmerde end of story
        09:36=karsten IIIEars: Try this under linux:  cd /tmp; mkdir foo; cd foo; dd if=/dev/zero of=bigfile bs=1m count=20m; split -b 1m bigfile
        09:36=ish open(2) mentions a O_LARGEFILE flag.. Where is this defined? a grep of /usr/include reveals nothing...
        09:36=bhoomi Seveas, dpkg: error processing /var/cache/apt/archives/zope-groupuserfolder_3.1.1-3ubuntu2_all.deb
        09:36=karsten IIIEars: ...that creates a 20 MB file, then splits it into 20 1 MB chunks.
        09:37=Seveas ish, most likely in a bits/something include file
        09:37=karsten IIIEars: the chunks are named bigfile.aa bigfile.ab bigfile.ac ...
        09:37=karsten IIIEars: ...and you can cat them back together:  cat bigfile.* > bigfile-new
        09:37=Seveas i think stdio.h should include that too, so try including stdio.h
        09:37=jacquesmerde ivoks, i'd add a page to the wiki to save people like me a lot of time, but i still dont quite understand what i did
        09:37=IIIEars Okay - I can do that. :)
        09:37=Seveas bhoomi, sorry, no clue on that, maybe someone else...
        09:38=ivoks jacquesmerde dhclient3 is program that get's IP from dhcp server
        09:38=bhoomi Seveas, :)
        09:38=ivoks jacquesmerde /etc/dhcp3/dhclient.conf is configuration file for that program
        09:38+garrut
        09:38+fonsken
        09:39=karsten IIIEars: Slight syntax fix:   cd /tmp; mkdir foo; cd foo; dd if=/dev/zero of=bigfile bs=$((1024*1024)) count=20; split -b 1m bigfile ; ll
        09:39=jacquesmerde ivoks, putting the hostname in ServerName in etc/cups/client.conf still doesnt work. all is for naught
        09:39=IIIEars "; ll" ?
        09:39-holycow
        09:39+holycow
        09:40=ivoks jacquesmerde do u know anything about networking?
        09:40=jacquesmerde ivoks, obviously not
        09:40+Bazzi
        09:40+dwa_
        09:40=karsten IIIEars: 'ls -l' Sorry, an alias.
        09:40=ivoks jacquesmerde then how could i explain enything to u? :)
        09:40+Fator_Dee
        09:40=IIIEars :)
        09:40=ivoks jacquesmerde cat /etc/resolv.conf
        09:40=jacquesmerde ivoks, oh, i wasn't asking you to. i thought it was well understood that i was a lost cause
        09:41=karsten IIIEars: ...which I've actually run, so it works as badvertised.
        09:41=thoreauputic karsten, "badvertised" is a nice typo ;)
        09:41=ivoks jacquesmerde so u see, u have nameservers of ur ISP
        09:42=IIIEars the dd command got me interested in linux i love it's power. :)
        09:42=ivoks jacquesmerde if u put a name in /etc/cups/client.conf it will search that name on couple of places
        09:42=karsten thoreauputic: Who says it's a typo?
        09:42=karsten IIIEars: It should get you interested in JCL.
        09:42=ivoks jacquesmerde first it will look in /etc/hosts to find it there, if it isn't there, it will contact namservers
        09:42=thoreauputic karsten, heheh OK, just checking - a nice coinage then ;)
        09:42+jbmigel
        09:43=ivoks jacquesmerde nameservers can't know anything about ur local network and they won't have that name too
        09:43+Clintology
        09:43=jacquesmerde ivoks, i thought the nameserver is what resolves internet url's
        09:43=IIIEars Hm to google and look smart or ask admit being new and baffled. okay i'll bite. what is "JCL"?
        09:43=ivoks jacquesmerde yes, that's name resolving, conecting IP with hostname
        09:43+poningru
        09:44=jacquesmerde ivoks, yeah, but i want to do that locally...
        09:44=karsten IIIEars: Job Control Language.
        09:44=ivoks jacquesmerde u have two options
        09:44=thoreauputic jacquesmerde, you can run dns for your LAN, but it isn't necessary
        09:44=karsten IIIEars: dd is actually a mainframe command ported to Unix back in the early days.
        09:44=ivoks jacquesmerde u can enter all ur hosts in /etc/hosts
        09:44=IIIEars Great! - can i use it to back up an entire disk?
        09:45=ivoks jacquesmerde or u can setup local DNS
        09:45+Dutchy
        09:45=karsten IIIEars: Yeah, but in general you wouldn't want to.
        09:45=metalsand testest
        09:45=karsten IIIEars: dd ~= Norton Ghost.  But for Linux, tar and equivalents are far more useful.
        09:45=karsten metalsand: failfail
        09:45=ivoks jacquesmerde read again what i just said
        09:45=jacquesmerde ivoks, i can't set up hosts because i'm on DHCP, yeah?
        09:45=ivoks jacquesmerde well... right
        09:45=metalsand I really wish I got my PCMCIA card set up :(
        09:46=ivoks jacquesmerde so u can setup dns on ur router
        09:46=metalsand I have a feeling it's going to take a lot of tweaking to get it working
        09:46=ivoks jacquesmerde and connect it with dhcp
        09:46=jacquesmerde ivoks, is that hard? am i better off just biting the bullet and switching to static IP's?
        09:46=IIIEars Ghost is nice. backing up an open OS with proprietary software just doesn't hit me right though. - lol
        09:46=ivoks jacquesmerde with dhcp-dns
        09:46=karsten metalsand: No, it's going to take one tweak.
        09:46=ivoks jacquesmerde well, it isn't simple :)
        09:47=karsten metalsand: ...all the other tweaks _won't_ get it working.
        09:47=thoreauputic jacquesmerde, how many machnes do you have on your LAN ?
        09:47=metalsand karsten, which tweak is that?
        09:47=karsten metalsand: ...they'll just stand between you and that one.
        09:47=karsten metalsand: The one that works, duh!
        09:47=metalsand karsten, which tweak is that?
        09:47=metalsand :P
        09:47=karsten metalsand: Recursion:  See recursion.  See also:  tail-recursion.
        09:47=jacquesmerde thoreauputic, 4
        09:47=ivoks lol
        09:48=ivoks put them on static IP
        09:48=thoreauputic jacquesmerde, just do static IP
        09:48+conor
        09:48=metalsand i need some kind of Linux mastermind
        09:48=metalsand That knows EVERYTHING.
        09:48=ivoks i had over 200 machines, and didn't use DHCP
        09:48=ivoks :)
        09:48=thoreauputic jacquesmerde, I have 4 machines too, and I use static IP
        09:48=Seveas metalsand, you called me?
        09:48=jacquesmerde ivoks, i'm sorry. i didnt realise what i was asking to do wasnt trivial. i thought i was just a newb. forget it
        09:48=Seveas ;)
        09:48=ivoks now i have over 400, so i have to :)
        09:48=metalsand Now.
        09:48+jsg
        09:48=metalsand Please. :)
        09:48=Seveas metalsand, which chip?
        09:48=metalsand Seveas, Prism 2.5
        09:49=Seveas there are prism drivers in ubuntu...
        """#
}
